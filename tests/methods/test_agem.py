from typing import Any

import numpy as np
import pytest
import torch
from last_outputs import last_outputs
from torch.nn import functional

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.checks.method_subject import MethodSubject
from onward.checks.resume import resumed_runs_equal_uninterrupted_ones
from onward.errors import OnwardError
from onward.methods import agem
from onward.methods.agem import AGEM, project
from onward.models.classifier import linear_probe, mlp
from onward.models.clip import Clip
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.tasks.one_label import OneLabel
from onward.train.method import Batch
from onward.turns import Event
from onward.types import Setting, Task


def test_a_projection_by_hand() -> None:
    gradient, reference = {"w": torch.tensor([1.0, 1.0])}, {"w": torch.tensor([-2.0, 0.0])}
    assert project(gradient, reference)["w"].tolist() == [0.0, 1.0]
    agreeing = {"w": torch.tensor([2.0, -1.0])}
    assert project(gradient, agreeing)["w"].tolist() == [1.0, 1.0]
    # One projection over all parameters: 1·(-2) + 1·1 < 0, though the second agrees.
    both = project(
        {"w": torch.tensor([1.0]), "b": torch.tensor([1.0])},
        {"w": torch.tensor([-2.0]), "b": torch.tensor([1.0])},
    )
    assert both["w"].item() == pytest.approx(0.6)
    assert both["b"].item() == pytest.approx(1.2)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def begun(task: Task) -> AGEM:
    method = AGEM()
    method.begin(Setting(task, tiny_benchmark().recipes["cpu"], 0))
    return method


@pytest.mark.parametrize("opposed", [True, False])
def test_the_step_never_raises_the_loss_on_memory(opposed: bool) -> None:
    probe, method = linear_probe((4,), 2, generator()), begun(OneLabel())
    inputs = torch.randn(1, 4, generator=generator()).repeat(6, 1)
    targets = torch.tensor([0, 0, 0, 1, 1, 1] if opposed else [0] * 6)
    batch = Batch(probe, inputs, probe(inputs[:3]), targets, 3, np.arange(6))
    method.compute_loss(batch).backward()  # type: ignore[no-untyped-call]
    own = {name: p.grad.clone() for name, p in probe.named_parameters() if p.grad is not None}
    assert own.keys() == {"head.weight", "head.bias"}
    method.on_after_backward(batch)
    for name, parameter in probe.named_parameters():
        assert parameter.grad is not None
        if opposed:  # the memory's gradient is this one's opposite: nothing is left of it
            torch.testing.assert_close(
                parameter.grad, torch.zeros_like(parameter), atol=1e-6, rtol=0
            )
        else:
            torch.testing.assert_close(parameter.grad, own[name])


def computed_together(monkeypatch: pytest.MonkeyPatch, model: Any) -> list[int]:
    """Return a list to which each forward pass of a model class adds its number of samples."""
    sizes: list[int] = []
    forward = model.forward

    def counted(self: Any, inputs: torch.Tensor) -> Any:
        sizes.append(len(inputs))
        return forward(self, inputs)

    monkeypatch.setattr(model, "forward", counted)
    return sizes


def assert_reference_is_that_of_the_whole_memory(
    model: Any, inputs: torch.Tensor, targets: torch.Tensor, task: Task
) -> None:
    """Compare with autograd, which computes the loss of all samples at once."""
    names, parameters = zip(*model.named_parameters(), strict=True)
    with torch.enable_grad():
        expected = torch.autograd.grad(task.loss(model.forward(inputs), targets), parameters)
    for parameter in parameters:  # of the new samples: no part of the reference
        parameter.grad = torch.ones_like(parameter)
    with torch.no_grad():  # as in training
        batch = Batch(model, inputs, None, targets, 0, np.arange(len(inputs)))
        begun(task)._reference_gradient(batch)
    for name, parameter, gradient in zip(names, parameters, expected, strict=True):
        assert parameter.grad is not None, name
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("samples", [5, 256, 600])
def test_micro_batches_give_the_gradient_of_the_whole_memory(
    samples: int, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = mlp((4,), 3, generator(), hidden_dim=6)
    monkeypatch.setattr(agem, "_MICRO_BATCH_MACS", 256 * model.macs)
    model.micro_batch_size = 100 if cached else None
    inputs = torch.randn(samples, 4, generator=generator(1))
    targets = torch.randint(0, 3, (samples,), generator=generator(2))
    sizes = computed_together(monkeypatch, type(model))
    assert_reference_is_that_of_the_whole_memory(model, inputs, targets, OneLabel())
    parts = {5: [5], 256: [256], 600: [256, 256, 88]}[samples]
    if cached:  # each part in its micro-batches, which are computed again in the backward pass
        micro = {5: [5], 256: [100, 100, 56], 600: 2 * [100, 100, 56] + [88]}[samples]
        assert sorted(sizes[1:]) == sorted(micro + [n for n in micro if samples > 100 and n != 88])
    else:
        assert sizes == [samples, *parts]


@pytest.mark.parametrize("cached", [False, True])
def test_a_loss_that_compares_samples_is_computed_on_the_whole_memory(
    cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agem, "_MICRO_BATCH_MACS", 1)
    kind = pair_type((32, 32, 3), 64)
    images = np.random.default_rng(0).integers(0, 256, (30, 32, 32, 3), np.uint8)
    pairs = made_pairs(kind, images, [f"thing {number}" for number in range(30)])
    inputs, targets = torch.from_numpy(as_bytes(pairs)), torch.zeros(30, 1)
    assert len(inputs) > tiny_benchmark().recipes["cpu"].batch_size
    model = Clip((32, 32, 3), 1, generator())
    model.micro_batch_size = 12 if cached else None
    sizes = computed_together(monkeypatch, type(model))
    assert_reference_is_that_of_the_whole_memory(model, inputs, targets, ImageText())
    assert sorted(sizes[1:]) == ([6, 6, 12, 12, 12, 12] if cached else [30])


def test_the_reference_is_the_whole_memory_or_a_sample_of_it() -> None:
    stream, recipe = tiny_benchmark().stream(0), tiny_benchmark().recipes["cpu"]
    steps = sum(-(-len(period.train) // recipe.batch_size) for period in stream) * recipe.epochs
    first = -(-len(stream[0].train) // recipe.batch_size) * recipe.epochs
    new = sum(len(period.train) for period in stream) * recipe.epochs
    for sample, reference in ((None, len(stream[0].train)), (5, 5), (10**6, len(stream[0].train))):
        record = onward.run(tiny_benchmark(), "agem", options={"sample": sample})
        assert record.cost is not None
        assert record.cost.samples == new + (steps - first) * reference
    with pytest.raises(OnwardError, match="at least 1 from memory, found 0"):
        AGEM(sample=0)


def test_it_is_not_finetuning() -> None:
    # It is where no gradient ever points against the memory's, as in some of these short runs.
    seeds = range(5)
    alike = [
        np.array_equal(*(last_outputs(m, seed=s) for m in ("agem", "finetune"))) for s in seeds
    ]
    assert not all(alike)


class RecomputedAGEM(AGEM):
    """A-GEM as published: autograd through the current weights gives each reference gradient."""

    def on_after_backward(self, batch: Batch) -> None:
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        if not len(targets):
            return
        head = batch.model.head
        current = head.weight, head.bias
        with torch.enable_grad():
            weight, bias = (values.detach().clone().requires_grad_() for values in current)
            loss = functional.cross_entropy(inputs @ weight.t() + bias, targets)
            reference = torch.autograd.grad(loss, (weight, bias))
        own = [values.grad for values in current]
        dot = sum(float((g * r).sum()) for g, r in zip(own, reference, strict=True))
        if dot < 0:
            norm = sum(float((r * r).sum()) for r in reference)
            for values, g, r in zip(current, own, reference, strict=True):
                values.grad = g - dot / norm * r


class NoProjection(AGEM):
    def on_after_backward(self, batch: Batch) -> None:
        """Leave the gradient alone."""


def trained_weights(method: type[AGEM], training: dict[str, Any]) -> list[torch.Tensor]:
    """Return the weights and biases after each period, one vector per period."""
    found: list[torch.Tensor] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            model = event.learner._model  # type: ignore[union-attr]
            found.append(torch.cat([p.detach().flatten() for p in model.parameters()]))

    onward.run(retrained(tiny_benchmark(), training), method, watch=watch)
    return found


OPTIMIZERS: list[dict[str, Any]] = [
    {},
    {"momentum": 0.0},
    {"weight_decay": 0.01},
    {"momentum": 0.5, "weight_decay": 0.01, "milestones": (0.3, 0.6)},
    {"schedule": "cosine", "warmup_steps": 3, "next_warmup_steps": 2, "next_lr": 0.3},
    {"schedule": "constant_cosine", "decay_fraction": 0.5},
    {"max_steps": 25},
    {"replacement": True},
    {"first_epochs": 3, "memory_size": 30},
    {"optimizer": "adam", "lr": 0.05},
    {
        "optimizer": "adamw",
        "lr": 0.05,
        "betas": (0.9, 0.9),
        "eps": 1e-3,
        "keep_optimizer_state": True,
    },
    {"grad_clip_norm": 0.2},
    {"keep_optimizer_state": True},
    {"no_decay": True, "weight_decay": 0.01},
    {"micro_batch_size": 7},
]


@pytest.mark.parametrize("training", OPTIMIZERS, ids=str)
def test_weights_equal_those_of_a_reference_gradient_recomputed_in_every_step(
    training: dict[str, Any],
) -> None:
    # Ten epochs are 20 steps in every period: batches have 24 samples, periods about 40.
    training = {"epochs": 10, **training}
    expected = trained_weights(RecomputedAGEM, training)
    unprojected = trained_weights(NoProjection, training)
    assert not torch.allclose(expected[-1], unprojected[-1], rtol=1e-3, atol=1e-4)
    found = trained_weights(AGEM, training)
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("training", OPTIMIZERS, ids=str)
def test_a_run_stopped_inside_a_call_ends_with_the_same_predictions(
    training: dict[str, Any],
) -> None:
    benchmark = retrained(tiny_benchmark(), training)
    assert "times inside" in resumed_runs_equal_uninterrupted_ones(
        MethodSubject("agem", {}, benchmark, seed=0)
    )


class FrozenRows:
    def frozen_rows(self, model: Any) -> dict[str, int]:
        return {"head.weight": 1}


class FrozenRowsAGEM(FrozenRows, AGEM):
    """A-GEM that does not train the weights of the first class."""


class FrozenRowsRecomputedAGEM(FrozenRows, RecomputedAGEM):
    """The same, with reference gradients by autograd."""


def test_weights_with_frozen_rows_equal_those_of_recomputed_reference_gradients() -> None:
    found, expected = (
        trained_weights(m, {"epochs": 10}) for m in (FrozenRowsAGEM, FrozenRowsRecomputedAGEM)
    )
    torch.testing.assert_close(found[-1], expected[-1], rtol=1e-3, atol=1e-4)
