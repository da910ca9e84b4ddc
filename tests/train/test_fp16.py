"""Training in fp16, with the scaling of losses that a GPU needs, computed on the CPU."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from interrupted import outputs_of, resumed_outputs_of

from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.methods.finetune import Finetune
from onward.methods.si import SI
from onward.train.method import Batch
from onward.types import Benchmark


@pytest.fixture(autouse=True)
def _fp16_on_the_cpu() -> Iterator[None]:
    with mock.patch("onward.train.learner.require_precision"):
        yield


def benchmark(precision: str = "fp16", model: str = "mlp") -> Benchmark:
    return retrained(tiny_benchmark("iid", model=model), {"precision": precision, "lr": 0.05})


@pytest.mark.parametrize("model", ["linear", "mlp", "convnet"])
def test_fp16_learns_about_what_fp32_learns(model: str) -> None:
    found, expected = (outputs_of(benchmark(p, model), "er")[-1] for p in ("fp16", "fp32"))
    assert np.mean(found.argmax(1) == expected.argmax(1)) > 0.9


@pytest.mark.parametrize("method", ["er", "si", "agem", "lwf"])
def test_fp16_resumes_with_the_same_bits(method: str, tmp_path: Path) -> None:
    whole = outputs_of(benchmark(), method)
    resumed = resumed_outputs_of(benchmark(), method, tmp_path)
    for found, expected in zip(resumed, whole[-len(resumed) :], strict=True):
        np.testing.assert_array_equal(found, expected)


FACTOR = 300.0


class Steep(Finetune):
    """Has gradients that overflow at the first loss scales."""

    scales: tuple[float, ...] = ()

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return super().compute_loss(batch) * FACTOR

    def on_after_backward(self, batch: Batch) -> None:
        for parameter in batch.model.parameters():
            assert parameter.grad is not None
            assert bool(torch.isfinite(parameter.grad).all())
            parameter.grad /= FACTOR


def test_the_loss_scale_lasts_from_call_to_call_and_skipped_steps_are_logged() -> None:
    logged: list[dict[str, float]] = []

    def watch(event: Any) -> None:
        if event.kind == "learned":
            logged.append(dict(event.metrics))

    import onward

    record = onward.run(benchmark(), Steep, watch=watch)
    assert "skipped_steps" in logged[0]
    assert all("skipped_steps" not in metrics for metrics in logged[2:])
    assert np.nanmean(record.matrix()) > 0.5


class SteepSI(Steep, SI):
    def on_after_backward(self, batch: Batch) -> None:
        super().on_after_backward(batch)
        SI.on_after_backward(self, batch)


def test_a_skipped_step_leaves_the_importance_of_si_finite() -> None:
    found = outputs_of(benchmark(), SteepSI)
    assert all(np.isfinite(outputs).all() for outputs in found)
