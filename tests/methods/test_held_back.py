"""EWC and SI: weights that are held back by how much they matter."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from last_outputs import last_outputs

from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.checks.tiny_boxes import ONLINE as ONLINE_BOXES
from onward.checks.tiny_boxes import tiny_boxes
from onward.errors import OnwardError
from onward.methods.ewc import EWC
from onward.methods.si import SI
from onward.models import MODELS
from onward.models.classifier import Classifier, linear_probe
from onward.models.fisher import fisher_diagonal
from onward.protocols import DOMAINS
from onward.tasks.boxes import Boxes
from onward.tasks.one_label import OneLabel
from onward.train.method import Batch
from onward.train.quadratic_penalty import QuadraticPenalty
from onward.types import Array, Call, Protocol, Setting, Task, View


def model(classes: int = 3, width: int = 8) -> Classifier:
    return linear_probe((width,), classes, torch.Generator().manual_seed(0))


def fisher(batch_size: int, samples: int | None = None, name: str = "linear") -> dict[str, Array]:
    benchmark = tiny_benchmark()
    recipe = replace(benchmark.recipes["cpu"], batch_size=batch_size)
    stream, budget = benchmark.stream(0), Budget()
    view = View(stream.table, stream[0].train, stream[0].classes, Call(budget))
    budget.open(view.rows)
    method = EWC(fisher=samples)
    method.begin(Setting(benchmark.task, recipe, 0))
    with torch.no_grad():
        method.training_data(view, budget)
        made = MODELS[name]((8,), 3, torch.Generator().manual_seed(0))
        method.on_learn_end(made, view, budget)
    found: dict[str, Array] = method.state()["anchor"]["importance"]
    return found


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_the_fisher_does_not_depend_on_the_batch_size(model: str) -> None:
    one, some, all_at_once = (fisher(size, name=model) for size in (1, 16, 256))
    for name in one:
        assert one[name].max() > 0
        np.testing.assert_allclose(one[name], some[name], rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(one[name], all_at_once[name], rtol=1e-5, atol=1e-8)


def test_the_fisher_may_be_estimated_on_some_samples() -> None:
    everything, some = fisher(16), fisher(16, samples=20)
    assert not np.array_equal(everything["head.weight"], some["head.weight"])
    assert some["head.weight"].sum() == pytest.approx(everything["head.weight"].sum(), rel=0.5)
    np.testing.assert_allclose(
        some["head.weight"], fisher(7, samples=20)["head.weight"], rtol=1e-5, atol=1e-8
    )
    np.testing.assert_array_equal(
        everything["head.weight"], fisher(16, samples=1000)["head.weight"]
    )
    with pytest.raises(OnwardError, match="1 or more samples, found 0"):
        EWC(fisher=0)


@pytest.mark.parametrize("some", [None, 20])
def test_the_fisher_is_a_mean_over_samples_that_are_met_on_the_way(some: int | None) -> None:
    benchmark = tiny_benchmark()
    period, table = benchmark.stream(0)[0], benchmark.table
    inputs, targets = torch.tensor(table.wide["input"][period.train.rows]), period.train.labels
    probe, labels, task = model(len(period.classes)), torch.tensor(targets), benchmark.task
    first = slice(some)
    squares = fisher_diagonal(probe, inputs[first], labels[first], task.loss)
    once = Budget({"passes": 1})
    view = View(table, period.train, period.classes, Call(once))
    once.open(view.rows)
    method = EWC(fisher=some)
    method.begin(Setting(task, benchmark.recipes["cpu"], 0))
    with torch.no_grad():
        method.training_data(view, once)
        for batch in np.array_split(np.arange(len(inputs)), 7):
            probe.zero_grad()
            with torch.enable_grad():
                outputs = probe(inputs[batch])
                step = Batch(probe, inputs[batch], outputs, labels[batch], len(batch), batch)
                method.compute_loss(step).backward()  # type: ignore[no-untyped-call]
            gradients = {
                name: p.grad.clone() for name, p in probe.named_parameters() if p.grad is not None
            }
            method.on_after_backward(step)
            for name, parameter in probe.named_parameters():
                assert parameter.grad is not None
                assert torch.equal(parameter.grad, gradients[name]), "F changes no gradient"
        method.on_learn_end(probe, view, once)
    on_the_way = method.state()["anchor"]["importance"]
    for name, found in squares.items():
        expected = found.numpy() / len(inputs[first])
        np.testing.assert_allclose(on_the_way[name], expected, rtol=1e-5, atol=1e-9)
        if some is None:
            np.testing.assert_allclose(fisher(16)[name], expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("protocol", ["iid", "online"])
def test_fewer_samples_for_the_fisher_are_another_run(protocol: str) -> None:
    few = last_outputs("ewc", protocol, fisher=5)
    assert not np.array_equal(few, last_outputs("ewc", protocol))
    assert not np.array_equal(few, last_outputs("finetune", protocol))


def squared_one_by_one(
    model: Any, inputs: torch.Tensor, targets: torch.Tensor, task: Task
) -> dict[str, torch.Tensor]:
    """Return the summed squares of autograd's gradients, each of one sample's loss."""
    names, parameters = zip(*model.named_parameters(), strict=True)
    squares = {name: torch.zeros_like(parameter) for name, parameter in model.named_parameters()}
    for place in range(len(inputs)):
        one = slice(place, place + 1)
        loss = task.loss(model(inputs[one]), targets[one])
        found = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
        for name, gradient in zip(names, found, strict=True):
            squares[name] += gradient**2
    return squares


@pytest.mark.parametrize("name", ["linear", "linear-cosine", "mlp"])
def test_the_fisher_is_of_autograds_gradients_sample_by_sample(name: str) -> None:
    kind, _, head = name.partition("-")
    made = MODELS[kind]((8,), 3, torch.Generator().manual_seed(0), head=head or "linear")
    inputs, targets = torch.randn(5, 8), torch.tensor([0, 1, 2, 1, 0])
    found = fisher_diagonal(made, inputs, targets, OneLabel().loss)
    expected = squared_one_by_one(made, inputs, targets, OneLabel())
    assert found.keys() == expected.keys()
    for each, squares in expected.items():
        torch.testing.assert_close(found[each], squares)


def test_of_boxes_too_it_is_of_autograds_gradients_image_by_image() -> None:
    train = tiny_boxes().stream(0)[0].train
    inputs = torch.tensor(tiny_boxes().table.wide["input"][train.rows])
    targets, task = torch.tensor(train.labels), Boxes()
    detector = MODELS["small_rcnn"]((32, 48, 3), 2, torch.Generator().manual_seed(0))
    found = fisher_diagonal(detector, inputs, targets, task.loss)
    expected = squared_one_by_one(detector, inputs, targets, task)
    task.loss(detector(inputs), targets).backward()
    assert found.keys() == expected.keys()
    for name, parameter in detector.named_parameters():
        torch.testing.assert_close(found[name], expected[name])
        assert parameter.grad is not None
        assert not torch.allclose(found[name], parameter.grad**2)


@pytest.mark.parametrize("protocol", [DOMAINS, ONLINE_BOXES])
def test_of_boxes_too_the_anchor_alone_makes_the_difference(protocol: Protocol) -> None:
    def outputs(method: str, **options: Any) -> Array:
        return last_outputs(method, tiny_boxes(protocol), **options)

    plain = outputs("finetune")
    np.testing.assert_array_equal(outputs("ewc", strength=0.0), plain)
    assert not np.array_equal(outputs("ewc"), plain)


@torch.no_grad()
def test_an_anchor_pulls_towards_itself_by_importance() -> None:
    probe = model(classes=2, width=1)
    anchor, weight = QuadraticPenalty(strength=0.5), probe.head.weight
    weight.copy_(torch.tensor([[1.0], [1.0]]))
    anchor.set_anchor(probe, {"head.weight": torch.tensor([[3.0], [0.0]])})
    weight.copy_(torch.tensor([[3.0], [3.0]]))
    weight.grad = torch.tensor([[0.5], [0.25]])
    anchor.add_gradient(probe)
    assert weight.grad.tolist() == [[6.5], [0.25]]  # 2 · 0.5 · 3 · (3 − 1) more


@torch.no_grad()
def test_classes_that_come_later_are_free() -> None:
    probe = model(classes=3)
    anchor = QuadraticPenalty(strength=1.0)
    anchor.set_anchor(probe, {name: torch.ones_like(p) for name, p in probe.named_parameters()})
    probe.add_classes(20, torch.Generator().manual_seed(1))
    for parameter in probe.parameters():
        parameter += 1.0
        parameter.grad = torch.zeros_like(parameter)
    anchor.add_gradient(probe)
    for parameter in probe.parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad[:3], torch.full_like(parameter[:3], 2.0))
        assert not parameter.grad[3:].any()


@torch.no_grad()
def test_the_path_integral_by_hand() -> None:
    """Two steps of one weight: from 1 by -0.5 at gradient 2, then by +0.1 at gradient -1."""
    probe = model(classes=1, width=1)
    weight = probe.head.weight
    method = SI(epsilon=0.04)
    method.begin(Setting(OneLabel(), tiny_benchmark().recipes["cpu"], 0))
    method.init_weights(probe, torch.Generator())
    nothing = torch.zeros(1, 1)
    for gradient, move in ((2.0, -0.5), (-1.0, 0.1)):
        weight.grad = torch.full_like(weight, gradient)
        method.on_after_backward(Batch(probe, nothing, nothing, nothing, 1, np.arange(1)))
        weight += move
    method.on_learn_end(probe, range(1), Budget())  # type: ignore[arg-type]
    # Work 2 · 0.5 + 1 · 0.1 = 1.1; moved -0.4 in all.
    importance = method.state()["anchor"]["importance"]["head.weight"]
    assert importance[0, 0] == pytest.approx(1.1 / (0.16 + 0.04))


@pytest.mark.parametrize("protocol", ["iid", "online"])
@pytest.mark.parametrize("method", ["ewc", "si"])
def test_strength_holds_back(method: str, protocol: str) -> None:
    def outputs(**options: Any) -> Array:
        return last_outputs(method, protocol, **options)

    plain = last_outputs("finetune", protocol)
    np.testing.assert_array_equal(outputs(strength=0.0), plain)
    assert not np.array_equal(outputs(), plain)
    weak, strong = outputs(strength=0.01), outputs(strength=0.3)
    assert np.abs(weak - plain).mean() < np.abs(strong - plain).mean()
