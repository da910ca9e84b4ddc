"""The Fisher diagonal is the sum of the squared gradients of single samples."""

from collections.abc import Callable

import pytest
import torch
from small_models import CASES, generator, grad_copies, inputs_for, same, targets_for, trained
from torch import nn
from torch.nn import functional

from onward import distributed
from onward.checks.tiny_boxes import tiny_boxes
from onward.models import MODELS, Model
from onward.models.classifier import Classifier
from onward.models.fisher import fisher_diagonal
from onward.tasks.boxes import Boxes
from onward.tasks.one_label import OneLabel
from onward.train.weights import snapshot


def by_sample(model: Model, inputs: torch.Tensor, targets: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return it by one backward pass per sample, in evaluation mode."""
    expected = {n: torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad}
    model.eval()
    for number in range(len(inputs)):
        one = slice(number, number + 1)
        model.zero_grad()
        OneLabel().loss(model(inputs[one]), targets[one]).backward()
        for name, gradient in grad_copies(model).items():
            expected[name] += gradient.square()
    model.zero_grad()
    return expected


@pytest.mark.parametrize("name", CASES)
def test_it_equals_one_backward_pass_per_sample(name: str) -> None:
    """By matrix products or `torch.func`, also where batch normalization has statistics."""
    model = trained(name).train()
    inputs, targets, before = inputs_for(name), targets_for(), snapshot(model)
    found = fisher_diagonal(model, inputs, targets, OneLabel().loss)
    assert same(before, snapshot(model))
    assert model.training
    assert model.features is None
    assert not grad_copies(model)
    expected = by_sample(model, inputs, targets)
    assert found.keys() == expected.keys()
    for n in expected:
        assert expected[n].max() > 0
        assert not found[n].requires_grad
        # Samples that are convolved together are added in another order.
        assert (found[n] - expected[n]).norm() <= 1e-4 * expected[n].norm()


def test_gradients_that_are_set_stay() -> None:
    model = trained("convnet")
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 2.0)
    fisher_diagonal(model, inputs_for("convnet"), targets_for(), OneLabel().loss)
    assert all(p.grad is not None and p.grad.eq(2).all() for p in model.parameters())


def test_the_sum_over_parts_of_a_batch_is_that_of_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, inputs, targets = trained("convnet"), inputs_for("convnet"), targets_for()
    whole = fisher_diagonal(model, inputs, targets, OneLabel().loss)
    monkeypatch.setattr("onward.models.fisher._NUMBERS_AT_ONCE", 4 * model.size)
    for name, squares in fisher_diagonal(model, inputs, targets, OneLabel().loss).items():
        torch.testing.assert_close(squares, whole[name], rtol=1e-4, atol=1e-7)


class Twice(nn.Module):
    """A layer that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(7, 7)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layer(self.layer(inputs).tanh())
        return found


def frozen() -> nn.Module:
    return nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 4).requires_grad_(False))


def twice() -> nn.Module:
    layer = nn.Linear(7, 7)
    return nn.Sequential(layer, nn.ReLU(), layer)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Sequential(nn.Linear(7, 5, bias=False), nn.ReLU()),
        lambda: nn.Sequential(nn.Linear(7, 5), nn.ReLU(inplace=True)),
        lambda: nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU()),
        lambda: nn.Sequential(
            nn.Linear(7, 6), nn.Unflatten(1, (2, 3)), nn.Linear(3, 2), nn.Flatten()
        ),
        lambda: nn.Sequential(nn.Linear(7, 5), nn.LayerNorm(5), nn.Dropout(0.5)),
        lambda: nn.Sequential(nn.Linear(7, 5), nn.BatchNorm1d(5)),
        lambda: nn.Linear(7, 5),
        frozen,
        twice,
        Twice,
    ],
)
def test_any_backbone_has_that_of_its_trained_parameters(make: Callable[[], nn.Module]) -> None:
    model = Classifier(make, (7,), 3, generator())
    inputs, targets = torch.randn(6, 7, generator=generator(1)), targets_for()
    before = [*model.parameters()]
    found = fisher_diagonal(model, inputs, targets, OneLabel().loss)
    assert all(one is other for one, other in zip(before, model.parameters(), strict=True))
    expected = by_sample(model, inputs, targets)
    assert found.keys() == expected.keys()
    for name, squares in expected.items():
        torch.testing.assert_close(found[name], squares, rtol=1e-4, atol=1e-7)


def test_that_of_a_detector_is_of_the_loss_of_each_image() -> None:
    stream = tiny_boxes().stream(0)
    train = stream[0].train
    inputs, targets = (
        torch.tensor(stream.table.wide["input"][train.rows]),
        torch.tensor(train.labels),
    )
    model = MODELS["small_rcnn"](inputs.shape[1:], 2, generator()).train()
    found = fisher_diagonal(model, inputs[:2], targets[:2], Boxes().loss)
    assert model.training
    expected = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    model.eval()
    for one in (slice(0, 1), slice(1, 2)):
        model.zero_grad()
        Boxes().loss(model(inputs[one]), targets[one]).backward()
        for name, gradient in grad_copies(model).items():
            expected[name] += gradient.square()
    assert found.keys() == expected.keys()
    for name, squares in expected.items():
        torch.testing.assert_close(found[name], squares)


def comparing_loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return a loss that compares every sample with every other one."""
    return functional.cross_entropy(outputs @ outputs.t(), targets)


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_processes_compare_the_samples_of_the_whole_batch(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the second of two processes sees it, with the sums of its own samples."""
    model, inputs, targets = trained(name), inputs_for(name), torch.arange(6)
    outputs = model.predict(inputs).requires_grad_()

    def gather(own: torch.Tensor, counts: list[int]) -> tuple[torch.Tensor, ...]:
        whole = outputs.detach() if own.is_floating_point() else targets
        torch.testing.assert_close(own, whole[3:])
        return whole.split(counts)

    monkeypatch.setattr(distributed, "rank", lambda: 1)
    monkeypatch.setattr(distributed, "all_counts", lambda own: [3, own])
    monkeypatch.setattr(distributed, "gather", gather)
    monkeypatch.setattr(distributed, "all_reduce", lambda *tensors: [*tensors])
    for micro_batch_size in (None, 2):
        model.micro_batch_size = micro_batch_size
        with distributed.sharing(shared=True):
            found = fisher_diagonal(model, inputs[3:], targets[3:], comparing_loss)
        # Of the second half alone: its rows of the gradient of the whole batch's loss.
        (gradients,) = torch.autograd.grad(6 * comparing_loss(outputs, targets), outputs)
        expected = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        for number in (3, 4, 5):
            model.zero_grad()
            model(inputs[[number]]).backward(gradients[[number]])
            for n, gradient in grad_copies(model).items():
                expected[n] += gradient.square()
        for n, squares in expected.items():
            torch.testing.assert_close(found[n], squares, rtol=1e-4, atol=1e-6)
