"""A loss is any scalar that autograd can differentiate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_models import generator, inputs_for, made, targets_for
from torch.nn import functional

import onward
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.tasks.one_label import OneLabel
from onward.train.backward import loss_gradient, output_gradient
from onward.train.method import Batch
from onward.turns import Event

MODELS = ("linear", "linear-cosine", "mlp", "resnet32")


def batch_of(name: str) -> Batch:
    model, inputs = made(name), inputs_for(name)
    with torch.no_grad():
        outputs = model.forward(inputs)
    return Batch(model, inputs, outputs, targets_for(), 4, np.arange(6))


@pytest.mark.parametrize("name", MODELS)
def test_a_penalty_on_parameters_is_part_of_the_gradient(name: str) -> None:
    batch = batch_of(name)
    model = batch.model

    def compute_loss(batch: Batch) -> torch.Tensor:
        penalty = sum(p.square().sum() for p in batch.model.parameters.values())
        return functional.cross_entropy(batch.outputs, batch.targets) + 3 * penalty

    with torch.no_grad():
        plain = output_gradient(
            batch.outputs, lambda out: functional.cross_entropy(out, batch.targets)
        )
        model.backward(plain)
        expected = {
            name: p.grad + 6 * p for name, p in model.parameters.items() if p.grad is not None
        }
        gradient = loss_gradient(compute_loss, batch)
        model.backward(gradient.outputs, gradient.features)
        gradient.add_parameter_terms(model)
    torch.testing.assert_close(gradient.outputs, plain)
    assert expected.keys() == model.parameters.keys()
    for parameter, reference in expected.items():
        torch.testing.assert_close(model.parameters[parameter].grad, reference)
        assert not model.parameters[parameter].requires_grad


@pytest.mark.parametrize("name", MODELS)
def test_a_loss_of_features_reaches_what_lies_below(name: str) -> None:
    batch = batch_of(name)
    pull = torch.randn(batch.model.features.shape, generator=generator(2))
    gradient = loss_gradient(lambda batch: (batch.features * pull).sum(), batch)
    assert gradient.features is not None
    torch.testing.assert_close(gradient.features, pull)
    assert not gradient.outputs.any()


def test_replayed_samples_are_marked() -> None:
    assert batch_of("linear").is_replay.tolist() == [False] * 4 + [True] * 2


class PlainTorch(onward.Method):
    """Finetuning, written as in any PyTorch script."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return functional.cross_entropy(batch.outputs, batch.targets)


class Held(onward.Method):
    """Finetuning with a strong penalty on large weights."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        penalty = sum(p.square().sum() for p in batch.model.parameters.values())
        return super().compute_loss(batch) + 0.1 * penalty


def weights_of(method: type[onward.Method]) -> torch.Tensor:
    found: list[torch.Tensor] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            learner: Any = event.learner
            found.append(torch.cat([p.flatten() for p in learner._model.parameters.values()]))

    onward.run(tiny_benchmark(), method, watch=watch)
    return found[-1]


def test_a_method_in_plain_torch_is_finetuning() -> None:
    torch.testing.assert_close(weights_of(PlainTorch), weights_of(onward.Method))


def test_a_penalty_in_the_loss_holds_weights() -> None:
    free, held = weights_of(onward.Method), weights_of(Held)
    assert held.norm() < 0.5 * free.norm()


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda batch: batch.outputs.mean(1), r"found the shape \(6,\). Return its mean"),
        (lambda batch: float(batch.outputs.detach().mean()), "found float. Return a tensor"),
        (lambda batch: batch.outputs.detach().mean(), "depends on no output"),
        (lambda batch: None, "found NoneType"),
    ],
)
def test_what_cannot_be_minimised_is_refused(loss: Any, words: str) -> None:
    with pytest.raises(OnwardError, match=words):
        loss_gradient(loss, batch_of("linear"))


def test_a_wrong_loss_keeps_what_was_learned_before(tmp_path: Path) -> None:
    class Wrong(onward.Method):
        calls = 0

        def on_learn_end(self, *args: Any) -> None:
            Wrong.calls += 1

        def compute_loss(self, batch: Batch) -> torch.Tensor:
            loss = super().compute_loss(batch)
            return loss[None] if Wrong.calls == 2 else loss

    with pytest.raises(OnwardError, match="scalar tensor"):
        onward.run(tiny_benchmark(), Wrong, 0, tmp_path)
    assert [*tmp_path.rglob("checkpoint*")] or [*tmp_path.rglob("scores*")]


def test_the_gradient_of_the_task_loss_is_softmax_minus_one_hot() -> None:
    outputs, targets = torch.randn(5, 3, generator=generator()), torch.tensor([0, 2, 1, 1, 0])
    found = output_gradient(outputs, lambda out: OneLabel().loss(out, targets))
    expected = (outputs.softmax(1) - torch.eye(3)[targets]) / 5
    torch.testing.assert_close(found, expected)
