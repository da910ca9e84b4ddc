"""Linear probes side by side learn what each of them learns by the plain training step."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.failures import FailedRun, RunsFailedError
from onward.methods import METHODS
from onward.methods.finetune import Finetune
from onward.together import Variant, run_together
from onward.train.method import Batch, TrainingSet
from onward.turns import Event
from onward.types import Array, View

OPTIONS: list[dict[str, Any]] = [
    {"momentum": 0.0},
    {"momentum": 0.9},
    {"momentum": 0.9, "weight_decay": 0.05},
    {"momentum": 0.9, "weight_decay": 0.05, "no_decay": True},
    {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.9, "dampening": 0.5},
    {"maximize": True, "lr": 1e-3},
    {"grad_clip_norm": 0.1},
    {"momentum": 0.9, "keep_optimizer_state": True, "ema_decay": 0.9},
    {"schedule": "cosine", "warmup_steps": 3, "next_lr": 0.02},
    {"optimizer": "adam"},
    {"optimizer": "adamw", "weight_decay": 0.1, "amsgrad": True},
    {"optimizer": "rmsprop"},
    {"precision": "bf16"},
]


def outputs_of(variants: list[Variant]) -> list[Array]:
    """Return what each run predicts after each period, in the order of the variants."""
    found: dict[str, list[Array]] = {}

    def watch(event: Event) -> None:
        if event.kind == "tested":
            found.setdefault(event.spec.hash, []).append(np.array(event.outputs))

    records = run_together(tiny_benchmark(), variants, watch=watch)
    return [np.concatenate([o.ravel() for o in found[record.spec.hash]]) for record in records]


def require_as_in_a_plain_step(variants: list[Variant]) -> None:
    together = outputs_of(variants)
    with mock.patch("onward.train.trainer.bank_key", return_value=None):
        alone = [outputs_of([variant])[0] for variant in variants]
    for found, expected in zip(together, alone, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("training", OPTIONS, ids=str)
def test_probes_side_by_side_follow_the_plain_step_for_each_optimizer_option(
    training: dict[str, Any],
) -> None:
    lr = training.get("lr", 0.05)
    require_as_in_a_plain_step(
        [
            Variant("finetune", training={**training, "lr": lr}),
            Variant("finetune", training={**training, "lr": lr / 2}),
            Variant("lwf", training={**training, "lr": lr}),
            Variant("ewc", training={**training, "lr": lr}),
        ]
    )


def test_options_may_differ_side_by_side() -> None:
    require_as_in_a_plain_step([Variant("finetune", training=training) for training in OPTIONS])


class ReplacesGradients(Finetune):
    """Assigns other gradients instead of changing them, and in some steps none."""

    # Methods of other packages take the plain step.
    __module__ = "onward.methods.replaces_gradients"

    def __init__(self, share: float) -> None:
        self._share, self._step = share, 0

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        self._step = 0  # every parameter has a gradient in the first step of a call
        return super().training_data(new, budget)

    def on_after_backward(self, batch: Batch) -> None:
        self._step += 1
        for parameter in batch.model.parameters():
            gradient = parameter.grad
            assert gradient is not None
            skips = self._step % 3 == 0 and parameter.ndim == 2
            parameter.grad = None if skips else gradient * self._share


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_method_may_replace_gradients(optimizer: str) -> None:
    training = {"optimizer": optimizer, "weight_decay": 0.01, "grad_clip_norm": 0.3}
    variants = [Variant(ReplacesGradients, {"share": share}, training) for share in (0.1, 0.5)]
    require_as_in_a_plain_step([*variants, Variant("finetune", training=training)])


def test_methods_with_losses_and_gradients_of_their_own_follow_the_plain_step() -> None:
    lacking = tiny_benchmark().lacking
    names = [n for n, card in METHODS.items() if card.misfit(*lacking) is None]
    assert len(names) > 15
    require_as_in_a_plain_step([Variant(name) for name in names])


class RaisesInLRScale(Finetune):
    __module__ = "onward.methods.raises_in_lr_scale"

    @property
    def lr_scale(self) -> float:
        raise ValueError("boom")


@pytest.mark.parametrize("kind", [RaisesInLRScale])
def test_a_learning_rate_that_raises_fails_its_own_run(kind: type[Finetune]) -> None:
    variants = [Variant("finetune"), Variant(kind), Variant("lwf")]
    with pytest.raises(RunsFailedError) as found:
        run_together(tiny_benchmark(), variants)
    assert [isinstance(one, FailedRun) for one in found.value.results] == [False, True, False]


class ReplacesData(Finetune):
    """Assigns the data of parameters, as sharpness-aware minimization does."""

    def on_after_backward(self, batch: Batch) -> None:
        for parameter in batch.model.parameters():
            parameter.data = parameter.data.clone()


class TakesGradients(Finetune):
    """Differentiates with respect to parameters and changes outputs in place."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        batch.outputs[:, 0] += 0.0
        loss = super().compute_loss(batch)
        gradients = torch.autograd.grad(loss, [*batch.model.parameters()], create_graph=True)
        return loss + 0.0 * gradients[0].square().sum()


@pytest.mark.parametrize("kind", [ReplacesData, TakesGradients])
def test_a_method_of_a_user_may_do_what_pytorch_allows(kind: type[Finetune]) -> None:
    changed, plain = outputs_of([Variant(kind), Variant("finetune")])
    np.testing.assert_allclose(changed, plain, rtol=1e-5, atol=1e-5)
