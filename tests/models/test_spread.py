"""A model whose batches are shared out, as one of one process."""

import pytest
import torch
from small_models import grad_copies, inputs_for, made, targets_for

from onward.crew import Crew
from onward.models.spread import OwnRows, Spread
from onward.tasks.one_label import OneLabel
from onward.train.weights import snapshot


@pytest.mark.parametrize("micro_batch_size", [2, 100])
@pytest.mark.parametrize("name", ["linear", "mlp-cosine"])
def test_gradients_are_those_of_the_model_itself(name: str, micro_batch_size: int) -> None:
    """Of a loss that uses features and parameters too."""
    model, inputs, found = made(name).train(), inputs_for(name), []
    for one, size in ((model, None), (Spread(model, Crew()), micro_batch_size)):
        model.micro_batch_size = size
        model.zero_grad()
        outputs = one(inputs)
        penalty = sum(parameter.square().sum() for parameter in model.parameters())
        loss = OneLabel().loss(outputs, targets_for()) + one.features.sum() + 0.1 * penalty
        loss.backward()
        one.continue_backward()
        found.append((outputs.detach(), grad_copies(model)))
    torch.testing.assert_close(found[1], found[0])


def test_a_loss_of_parameters_alone_needs_no_outputs() -> None:
    model = made("mlp").train()
    spread = Spread(model, Crew())
    spread(inputs_for("mlp"))
    model.head.weight.sum().backward()
    spread.continue_backward()
    assert model.head.weight.grad.eq(1).all()


def test_own_rows_take_the_place_of_a_share() -> None:
    spread, inputs = Spread(made("mlp"), Crew()), inputs_for("mlp")
    torch.testing.assert_close(spread(OwnRows(inputs, 6)), spread(inputs))


def test_a_teacher_copy_is_shared_out_too() -> None:
    spread, inputs = Spread(made("mlp"), Crew()), inputs_for("mlp")
    before = spread.predict(inputs)
    teacher = spread.teacher_copy(snapshot(spread), 3)
    assert isinstance(teacher, Spread)
    spread.inner.head.weight.detach().zero_()
    torch.testing.assert_close(teacher.predict(inputs), before)
