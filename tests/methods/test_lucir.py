import itertools
import math

import numpy as np
import pytest
import torch
from shown import RECIPE, begun, generator, shown

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods.lucir import LUCIR, feature_distance
from onward.models.classifier import Classifier, mlp
from onward.train.learner import GradientLearner
from onward.train.method import Batch
from onward.turns import Event

INPUTS = np.random.default_rng(0).normal(size=(20, 3))
TENSOR = torch.from_numpy(INPUTS.astype(np.float32))
OLD = np.array([[0, -1]] * 6 + [[1, -1]] * 6)


def taught(classes: int = 4, **options: float) -> tuple[LUCIR, Classifier]:
    """Return a method and a model in the second period, with samples 12 to 19 of new classes."""
    method = begun(LUCIR(**options))  # type: ignore[arg-type]
    model, budget = mlp((3,), 2, generator(), head="cosine", hidden_dim=5), Budget()
    method.on_learn_end(model, shown(INPUTS, np.arange(12), OLD, 2, budget), budget)
    new = np.array([[2 + number % (classes - 2), -1] for number in range(8)])
    budget.held = method._memory.samples.rows
    method.training_data(shown(INPUTS, np.arange(12, 20), new, classes, budget), budget)
    model.add_classes(classes, generator(1))
    with torch.no_grad():
        method.init_weights(model, generator(2))
    return method, model


@torch.no_grad()
def moved(model: Classifier) -> None:
    """Move the model away from its teacher."""
    noise = torch.randn(5, 3, generator=generator(4))
    model.get_parameter("backbone.0.weight").add_(noise, alpha=0.4)
    model.head.eta.fill_(1.7)


@pytest.mark.parametrize(
    ("classes", "shown_again"), [(3, False), (4, False), (6, False), (4, True)]
)
def test_the_gradient_of_all_three_parts_is_autograds(classes: int, shown_again: bool) -> None:
    method, model = taught(classes)
    teacher = model.teacher_copy(method._teacher.weights, 2)
    moved(model)
    targets = torch.tensor([[2 + n % (classes - 2), -1] for n in range(8)] + OLD.tolist()[:8])
    # The margin is for what is replayed, also where a new sample is of an old class.
    targets[0, 0] = 0 if shown_again else targets[0, 0]
    inputs = torch.cat([TENSOR[12:], TENSOR[:8]])
    # The method trains on eight new samples; what stands behind them is replayed.
    positions = np.arange(16)
    batch = Batch(model, inputs, model(inputs), targets, 16, positions)
    loss = method.compute_loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]

    values = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    weight, bias = values["backbone.0.weight"], values["backbone.0.bias"]
    features = torch.nn.functional.linear(inputs, weight, bias).relu()
    units = torch.nn.functional.normalize(features)
    cosines = units @ torch.nn.functional.normalize(values["head.weight"]).t()
    logits = values["head.eta"] * cosines
    wanted = torch.zeros(16, classes).scatter_(1, targets[:, :1], 1.0)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
    away = 1 - torch.nn.functional.cosine_similarity(features, teacher.embed(inputs)).mean()
    # As in the released code, the margin takes eta for a constant.
    scores = logits[8:] / values["head.eta"].detach()
    own = scores.gather(1, targets[8:, :1])
    hardest = scores[:, 2:].topk(min(2, classes - 2)).values
    margin = torch.nn.functional.margin_ranking_loss(
        own.expand_as(hardest), hardest, torch.ones_like(hardest), margin=0.5
    )
    value = entropy + 5 * math.sqrt(2 / (classes - 2)) * away + margin
    expected = torch.autograd.grad(value, [*values.values()])
    assert margin.item() > 0
    assert loss.item() == pytest.approx(value.item(), rel=1e-5)
    for parameter, reference in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, reference, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_feature_distance_is_one_minus_the_cosine(rows: int) -> None:
    features, before = torch.randn(2, rows, 4, generator=generator())
    features.requires_grad_()
    lost = (1 - torch.nn.functional.cosine_similarity(features, before)).mean()
    lost.backward()
    found = feature_distance(features, before)
    assert found.item() == pytest.approx(lost.item(), abs=1e-6)
    (gradient,) = torch.autograd.grad(found, features)
    torch.testing.assert_close(gradient, features.grad)
    # A feature of length 0 has no direction: its gradient is 0, and not infinite.
    zero = torch.zeros_like(features, requires_grad=True)
    (nothing,) = torch.autograd.grad(feature_distance(zero, before), zero)
    assert not nothing.any()


def test_new_weights_are_imprinted() -> None:
    _, model = taught()
    weight = model.head.weight.detach()
    units = torch.nn.functional.normalize(model.embed(TENSOR))
    length = weight[:2].norm(dim=1).mean()
    for label in (2, 3):
        mean = units[[row for row in range(12, 20) if 2 + (row - 12) % 2 == label]].mean(0)
        torch.testing.assert_close(weight[label], mean / mean.norm() * length, rtol=1e-5, atol=1e-6)


def test_without_replayed_samples_there_is_no_margin() -> None:
    method, model = taught(distance=0.0)
    targets = torch.tensor([[2, -1]] * 8)
    batch = Batch(model, TENSOR[12:], model(TENSOR[12:]), targets, 8, np.arange(8))
    expected = method.setting.task.loss(batch.outputs, targets)
    torch.testing.assert_close(method.compute_loss(batch), expected)


def test_old_rows_do_not_move_from_the_second_period_on() -> None:
    seen: list[dict[str, torch.Tensor]] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            assert isinstance(event.learner, GradientLearner)
            assert event.learner._model is not None
            values = event.learner._model.named_parameters()
            seen.append({name: parameter.detach().clone() for name, parameter in values})

    benchmark = tiny_benchmark("incomplete", model="mlp")
    assert benchmark.recipes["cpu"].weight_decay > 0
    onward.run(benchmark, "lucir", watch=watch)
    assert [len(model["head.weight"]) for model in seen] == [2, 3, 5, 6]
    for before, after in itertools.pairwise(seen):
        known = len(before["head.weight"])
        assert torch.equal(after["head.weight"][:known], before["head.weight"])
        assert not torch.equal(after["backbone.0.weight"], before["backbone.0.weight"])
        # Eta goes on: it is carried over, and learned.
        assert after["head.eta"] != before["head.eta"]
        assert before["head.eta"] != 1


def test_without_a_second_look_new_weights_are_not_imprinted() -> None:
    method, model = begun(LUCIR()), mlp((3,), 2, generator(), head="cosine", hidden_dim=5)
    budget = Budget({"passes": 1})
    method.on_learn_end(model, shown(INPUTS, np.arange(12), OLD, 2, budget), budget)
    budget.held = method._memory.samples.rows
    new = np.array([[2, -1]] * 8)
    method.training_data(shown(INPUTS, np.arange(12, 20), new, 3, budget), budget)
    model.add_classes(3, generator(1))
    drawn = model.head.weight.detach().clone()
    method.init_weights(model, generator(2))
    assert torch.equal(model.head.weight, drawn)


def test_wrong_options_are_named() -> None:
    with pytest.raises(OnwardError, match="1 or more new classes, found 0"):
        LUCIR(hardest=0)
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        begun(LUCIR(per_class=0), recipe=RECIPE)
