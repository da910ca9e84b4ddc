"""A loss is any scalar that autograd can differentiate."""

import json
from collections.abc import Callable
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
from onward.models.model import Model
from onward.models.probe_bank import ProbeBank, bank_key
from onward.tasks.one_label import OneLabel
from onward.train.method import Batch, require_scalar
from onward.turns import Event

MODELS = ("linear", "linear-cosine", "mlp", "resnet32")


def batch_of(name: str, model: Model | None = None) -> Batch:
    model, inputs = (model or made(name)).train(), inputs_for(name)
    return Batch(model, inputs, model(inputs), targets_for(), 4, np.arange(6))


def step(name: str, compute_loss: Callable[[Batch], torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the gradients that a training step computes, by parameter."""
    model, inputs = made(name), inputs_for(name)
    if bank_key(model) is None:
        compute_loss(batch_of(name, model)).backward()
    else:
        bank = ProbeBank([model])
        bank.forward(inputs)
        batch = Batch(model, inputs, bank.outputs(0), targets_for(), 4, np.arange(6))
        bank.backward(0, compute_loss(batch))
        bank.finish_backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def cross_entropy(batch: Batch) -> torch.Tensor:
    return functional.cross_entropy(batch.outputs, batch.targets)


def squares(model: torch.nn.Module) -> torch.Tensor:
    return torch.stack([p.square().sum() for p in model.parameters()]).sum()


@pytest.mark.parametrize("name", MODELS)
def test_a_penalty_on_parameters_is_part_of_the_gradient(name: str) -> None:
    batch = batch_of(name)
    names, parameters = zip(*batch.model.named_parameters(), strict=True)
    plain = torch.autograd.grad(cross_entropy(batch), parameters)
    found = step(name, lambda batch: cross_entropy(batch) + 3 * squares(batch.model))
    assert found.keys() == set(names)
    for parameter, weights, gradient in zip(names, parameters, plain, strict=True):
        torch.testing.assert_close(found[parameter], gradient + 6 * weights.detach())


@pytest.mark.parametrize("name", ["mlp", "mlp-cosine", "resnet32"])
def test_a_loss_of_features_reaches_what_lies_below(name: str) -> None:
    batch = batch_of(name)
    pull = torch.randn(batch.features.shape, generator=generator(2))
    names, parameters = zip(*batch.model.named_parameters(), strict=True)
    below = [n.startswith("backbone.") for n in names]
    expected = torch.autograd.grad(
        (batch.features * pull).sum(), parameters, allow_unused=True, retain_graph=True
    )
    assert [gradient is not None for gradient in expected] == below
    found = step(name, lambda batch: (batch.features * pull).sum())
    for parameter, gradient in zip(names, expected, strict=True):
        if gradient is not None:
            torch.testing.assert_close(found[parameter], gradient)
        else:
            assert not found.get(parameter, torch.zeros(1)).any()


@pytest.mark.parametrize("name", ["linear", "linear-cosine"])
def test_a_loss_of_features_changes_nothing_where_nothing_lies_below(name: str) -> None:
    plain = step(name, cross_entropy)
    found = step(name, lambda batch: cross_entropy(batch) + batch.features.square().sum())
    assert plain.keys() == found.keys()
    assert all(torch.equal(found[parameter], plain[parameter]) for parameter in plain)


def test_replayed_samples_are_marked() -> None:
    assert batch_of("linear").is_replay.tolist() == [False] * 4 + [True] * 2


class PlainTorch(onward.Method):
    """Finetuning, written as in any PyTorch script."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return functional.cross_entropy(batch.outputs, batch.targets)


class Held(onward.Method):
    """Finetuning with a strong penalty on large weights."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return super().compute_loss(batch) + 0.1 * squares(batch.model)


def weights_of(method: type[onward.Method]) -> torch.Tensor:
    found: list[torch.Tensor] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            learner: Any = event.learner
            found.append(torch.cat([p.detach().flatten() for p in learner._model.parameters()]))

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
        require_scalar(loss(batch_of("linear")))


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
    outputs.requires_grad_()
    (found,) = torch.autograd.grad(OneLabel().loss(outputs, targets), outputs)
    expected = (outputs.softmax(1) - torch.eye(3)[targets]) / 5
    torch.testing.assert_close(found, expected)


class Logging(onward.Method):
    """Logs its loss and its share of replayed samples."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        loss = super().compute_loss(batch)
        batch.log("loss", loss)
        batch.log("replayed", batch.is_replay.float().mean())
        batch.log("lr", batch.lr)
        return loss


def test_logged_numbers_are_means_in_events_and_in_the_log_of_the_run(tmp_path: Path) -> None:
    found: list[dict[str, float]] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            found.append(dict(event.metrics))

    record = onward.run(tiny_benchmark(), Logging, 0, tmp_path, watch=watch)
    assert record.path is not None
    lines = [json.loads(line) for line in (record.path / "log.jsonl").read_text().splitlines()]
    assert [line["metrics"] for line in lines if line["event"] == "learned"] == found
    assert all(0 < one["loss"] < 5 and one["replayed"] == 0 for one in found)


@pytest.mark.parametrize("value", ["high", torch.zeros(2)])
def test_what_is_no_number_is_not_logged(value: Any) -> None:
    model, inputs = made("linear"), inputs_for("linear")
    batch = Batch(model, inputs, model(inputs), targets_for(), 4, np.arange(6))
    with pytest.raises(OnwardError, match="expected one number to log as 'loss'"):
        batch.log("loss", value)
