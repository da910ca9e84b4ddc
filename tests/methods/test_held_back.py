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
from onward.methods.ewc import EWC, one_by_one
from onward.methods.si import SI
from onward.models import MODELS
from onward.models.linear import LinearProbe
from onward.protocols import DOMAINS
from onward.tasks.boxes import Boxes
from onward.tasks.one_label import OneLabel
from onward.train.anchored import Anchor
from onward.train.backward import loss_gradient, output_gradient
from onward.train.method import Batch
from onward.types import Array, Call, Protocol, Setting, View


def model(classes: int = 3, width: int = 8) -> LinearProbe:
    return LinearProbe((width,), classes, torch.Generator().manual_seed(0))


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
    assert not np.array_equal(everything["weight"], some["weight"])
    assert some["weight"].sum() == pytest.approx(everything["weight"].sum(), rel=0.5)
    np.testing.assert_allclose(
        some["weight"], fisher(7, samples=20)["weight"], rtol=1e-5, atol=1e-8
    )
    np.testing.assert_array_equal(everything["weight"], fisher(16, samples=1000)["weight"])
    with pytest.raises(OnwardError, match="1 or more samples, found 0"):
        EWC(fisher=0)


@pytest.mark.parametrize("some", [None, 20])
def test_the_fisher_is_a_mean_over_samples_that_are_met_on_the_way(some: int | None) -> None:
    benchmark = tiny_benchmark()
    period, table = benchmark.stream(0)[0], benchmark.table
    inputs, targets = torch.tensor(table.wide["input"][period.train.rows]), period.train.labels
    probe, labels, task = model(len(period.classes)), torch.tensor(targets), benchmark.task
    first = slice(some)
    slopes = len(inputs[first]) * output_gradient(
        probe.predict(inputs[first]), lambda out: task.loss(out, labels[first])
    )
    squares = probe.squared_gradient(inputs[first], slopes)
    once = Budget({"passes": 1})
    view = View(table, period.train, period.classes, Call(once))
    once.open(view.rows)
    method = EWC(fisher=some)
    method.begin(Setting(task, benchmark.recipes["cpu"], 0))
    with torch.no_grad():
        method.training_data(view, once)
        for batch in np.array_split(np.arange(len(inputs)), 7):
            outputs = probe.forward(inputs[batch])
            step = Batch(probe, inputs[batch], outputs, labels[batch], len(batch), batch)
            loss_gradient(method.compute_loss, step)
            method.on_after_backward(step)
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


def test_squared_gradients_are_autograds_sample_by_sample() -> None:
    probe, inputs, targets = model(), torch.randn(5, 8), torch.tensor([0, 1, 2, 1, 0])
    slopes = 5 * output_gradient(probe.predict(inputs), lambda out: OneLabel().loss(out, targets))
    found = probe.squared_gradient(inputs, slopes)
    reference = torch.nn.Linear(8, 3)
    reference.weight.data = probe.parameters["weight"][:3].clone()
    reference.bias.data = probe.parameters["bias"][:3].clone()
    expected = {"weight": torch.zeros(3, 8), "bias": torch.zeros(3)}
    for sample, target in zip(inputs, targets, strict=True):
        reference.zero_grad()
        torch.nn.functional.cross_entropy(reference(sample), target).backward()
        for name, parameter in reference.named_parameters():
            assert parameter.grad is not None
            expected[name] += parameter.grad**2
    for name in expected:
        torch.testing.assert_close(found[name][:3], expected[name])
        assert not found[name][3:].any()


def test_of_boxes_too_they_are_autograds_image_by_image() -> None:
    train = tiny_boxes().stream(0)[0].train
    inputs = torch.tensor(tiny_boxes().table.wide["input"][train.rows])
    targets, task = torch.tensor(train.labels), Boxes()
    detector = MODELS["small_rcnn"]((32, 48, 3), 2, torch.Generator().manual_seed(0))
    found = one_by_one(detector, inputs, targets, task)
    expected = {name: torch.zeros_like(values) for name, values in found.items()}
    for place in range(len(inputs)):
        loss = detector.forward(inputs[place : place + 1]).loss(targets[place : place + 1])
        detector.backward(loss)
        for name, parameter in detector.parameters.items():
            assert parameter.grad is not None
            expected[name] += parameter.grad**2
    whole = detector.forward(inputs).loss(targets)
    detector.backward(whole)
    for name, squares in found.items():
        torch.testing.assert_close(squares, expected[name])
        gradient = detector.parameters[name].grad
        assert gradient is not None
        assert not torch.allclose(squares, gradient**2)


@pytest.mark.parametrize("protocol", [DOMAINS, ONLINE_BOXES])
def test_of_boxes_too_the_anchor_alone_makes_the_difference(protocol: Protocol) -> None:
    def outputs(method: str, **options: Any) -> Array:
        return last_outputs(method, tiny_boxes(protocol), **options)

    plain = outputs("finetune")
    np.testing.assert_array_equal(outputs("ewc", strength=0.0), plain)
    assert not np.array_equal(outputs("ewc"), plain)


def test_an_anchor_pulls_towards_itself_by_importance() -> None:
    probe = model(classes=2, width=1)
    anchor = Anchor(strength=0.5)
    probe.parameters["weight"][:2] = torch.tensor([[1.0], [1.0]])
    anchor.move(probe, {"weight": torch.tensor([[3.0], [0.0]])})
    probe.parameters["weight"][:2] = torch.tensor([[3.0], [3.0]])
    probe.forward(torch.zeros(1, 1))
    probe.backward(torch.zeros(1, 2))
    anchor.pull(probe)
    gradient = probe.parameters["weight"].grad
    assert gradient is not None
    assert gradient[:2].tolist() == [[6.0], [0.0]]  # 2 · 0.5 · 3 · (3 − 1)


def test_classes_that_come_later_are_free() -> None:
    probe = model(classes=3)
    anchor = Anchor(strength=1.0)
    anchor.move(probe, {name: torch.ones_like(p) for name, p in probe.parameters.items()})
    probe.grow(20, torch.Generator().manual_seed(1))
    probe.forward(torch.zeros(1, 8))
    probe.backward(torch.zeros(1, 20))
    anchor.pull(probe)
    for parameter in probe.parameters.values():
        assert parameter.grad is not None
        assert not parameter.grad[16:].any()


def test_the_path_integral_by_hand() -> None:
    """Two steps of one weight: from 1 by -0.5 at slope 2, then by +0.1 at slope -1."""
    probe = model(classes=1, width=1)
    weight = probe.parameters["weight"]
    method = SI(epsilon=0.04)
    method.begin(Setting(OneLabel(), tiny_benchmark().recipes["cpu"], 0))
    method.init_weights(probe, torch.Generator())
    nothing = torch.zeros(1, 1)
    for slope, move in ((2.0, -0.5), (-1.0, 0.1)):
        weight.grad = torch.zeros_like(weight)
        weight.grad[0] = slope
        method.on_after_backward(Batch(probe, nothing, nothing, nothing, 1, np.arange(1)))
        weight[0] += move
    method.on_learn_end(probe, range(1), Budget())  # type: ignore[arg-type]
    # Work 2 · 0.5 + 1 · 0.1 = 1.1; moved -0.4 in all.
    importance = method.state()["anchor"]["importance"]["weight"]
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
