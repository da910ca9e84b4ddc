"""Adam is torch's, gradients are clipped as torch clips them, and a state goes on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from stopped import StopError, stop_after

import onward
from onward.checks import tiny_benchmark
from onward.checks.tiny import ONLINE
from onward.errors import OnwardError
from onward.train.optimizers import SGD, Adam, clip
from onward.types import Benchmark


def test_adam_is_torchs_adamw() -> None:
    generator = torch.Generator().manual_seed(0)
    ours = {"weight": torch.randn(4, 3, generator=generator), "bias": torch.randn(4)}
    theirs = [values.clone().requires_grad_() for values in ours.values()]
    reference = torch.optim.AdamW(theirs, lr=0.01, betas=(0.9, 0.999), weight_decay=0.1)
    adam = Adam(ours, momentum=0.9, weight_decay=0.1, velocity={})
    for _ in range(20):
        for mine, other in zip(ours.values(), theirs, strict=True):
            gradient = torch.randn(mine.shape, generator=generator)
            mine.grad, other.grad = gradient, gradient.clone()
        adam.step(0.01)
        reference.step()  # type: ignore[no-untyped-call]
    for mine, other in zip(ours.values(), theirs, strict=True):
        torch.testing.assert_close(mine, other.detach())


def test_rows_that_are_still_do_not_move() -> None:
    weight = torch.ones(3, 2)
    weight.grad = torch.ones(3, 2)
    Adam({"w": weight}, momentum=0.9, weight_decay=0.0, velocity={}, frozen_rows={"w": 2}).step(0.1)
    assert (weight[:2] == 1).all()
    assert (weight[2] < 1).all()


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_a_parameter_may_grow_between_two_calls(kind: type[SGD] | type[Adam]) -> None:
    small = torch.ones(2, 2)
    small.grad = torch.ones(2, 2)
    before = kind({"w": small}, momentum=0.9, weight_decay=0.0, velocity={})
    before.step(0.1)
    large = torch.ones(3, 2)
    after = kind({"w": large}, momentum=0.9, weight_decay=0.0, velocity=before.velocity)
    kept = [values for name, values in after.velocity.items() if name.endswith("w")]
    assert all(values.shape == (3, 2) and not values[2].any() for values in kept)


def test_a_gradient_is_clipped_as_torch_clips_it() -> None:
    gradients = [torch.full((2, 2), 3.0), torch.full((3,), -4.0)]
    parameters = {str(n): torch.zeros_like(values) for n, values in enumerate(gradients)}
    theirs = [torch.zeros_like(values) for values in gradients]
    for values, mine, other in zip(gradients, parameters.values(), theirs, strict=True):
        mine.grad, other.grad = values.clone(), values.clone()
    clip(parameters, 2.0)
    torch.nn.utils.clip_grad_norm_(theirs, 2.0)
    for mine, other in zip(parameters.values(), theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def _online(**changes: object) -> Benchmark:
    made = tiny_benchmark("online")
    recipe = replace(ONLINE, momentum=0.9, optimizer="adam", learning_rate=0.01, **changes)
    return replace(made, recipes={made.recipe: recipe})


def test_a_state_that_goes_on_is_another_descent() -> None:
    anew, on = (onward.run(_online(goes_on=each), "finetune").matrix() for each in (False, True))
    assert not np.array_equal(anew, on, equal_nan=True)


@pytest.mark.parametrize("goes_on", [False, True])
def test_it_survives_a_stop(goes_on: bool, tmp_path: Path) -> None:
    made = _online(goes_on=goes_on)
    whole = onward.run(made, "finetune", out=tmp_path / "whole")

    with pytest.raises(StopError):
        onward.run(
            made, "finetune", out=tmp_path / "cut", watch=stop_after(1), checkpoint_seconds=0
        )
    resumed = onward.run(made, "finetune", out=tmp_path / "cut")
    assert resumed.scores == whole.scores


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"optimizer": "adamax"}, "sgd or adam"), ({"clip": 0.0}, "a length above 0")],
)
def test_other_words_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        replace(ONLINE, **changes)  # type: ignore[arg-type]
