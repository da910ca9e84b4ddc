"""Every method trains every family of models on a device that refuses what is on the CPU.

Each run ends as it does on the CPU, also if it is stopped in the middle of a call and resumed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from comparable import comparable
from interrupted import outputs_of, resumed_outputs_of
from simulated_device import NAME, simulated_device
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.methods import METHODS
from onward.models.classifier import LinearHead
from onward.tasks.one_label import OneLabel
from onward.train.method import Method
from onward.types import Array, Benchmark

FAMILIES: Mapping[str, Callable[[], Benchmark]] = {
    "linear": tiny_benchmark,
    "many labels": lambda: tiny_benchmark("incomplete"),
    "mlp": lambda: tiny_benchmark(model="mlp"),
    "convnet": lambda: tiny_benchmark(model="convnet"),
    "convnet, many labels": lambda: tiny_benchmark("incomplete", model="convnet"),
    "resnet32": lambda: retrained(tiny_benchmark(model="resnet32"), {"image_size": 16}),
    "timm": lambda: retrained(
        tiny_benchmark(model="timm:test_resnet", images=True), {"image_size": 16, "lr": 0.05}
    ),
    # Norms are added up in another order where there are operators for lists of tensors. Adam makes
    # steps of one length out of gradients that are zero but for rounding, until another proposal
    # is chosen.
    "small_rcnn": lambda: retrained(
        tiny_boxes(), {"grad_clip_norm": None, "optimizer": "sgd", "lr": 0.01}
    ),
    "clip_small": tiny_pairs,
}
# The paths on which tensors are made or brought back: a teacher, exemplars, penalties and their
# importance, a memory's gradient, kept heads, a cosine head, a correction, other views.
SAMPLE = {
    "linear": ("cwr", "ewc", "lucir", "lwf", "nap", "patching", "si"),
    "many labels": ("agem", "bic", "icarl_norm", "lucir"),
    "mlp": ("agem", "ewc", "gdumb"),
    "convnet": ("c1", "c3", "icarl_cnn"),
    "timm": ("lwf",),
    "small_rcnn": ("d2",),
    "clip_small": ("si",),
}
# Training makes more of differences in the last bits.
TOLERANCE = 2e-4
COSINE = ("finetune", "er", "agem", "ewc", "si", "lwf", "cwr", "gdumb", "patching", "oversample")


def fitting(family: str) -> list[str]:
    """Return the gradient methods that make sense on the benchmark of a family."""
    lacking = benchmark_of(family).lacking
    return [
        name
        for name, card in METHODS.items()
        if card.misfit(*lacking) is None and issubclass(card.make, Method)
    ]


@cache
def benchmark_of(family: str) -> Benchmark:
    return FAMILIES[family]()


CELLS = [
    pytest.param(
        family,
        method,
        id=f"{family}-{method}",
        marks=[] if method in SAMPLE.get(family, ()) else [pytest.mark.slow],
    )
    for family in FAMILIES
    for method in fitting(family)
]


def test_the_sample_is_part_of_the_matrix() -> None:
    assert all({*methods} <= {*fitting(family)} for family, methods in SAMPLE.items())


@pytest.mark.parametrize(("family", "method"), CELLS)
def test_a_method_trains_and_resumes_on_the_device(
    family: str, method: str, tmp_path: Path
) -> None:
    # Nap learns in its first call alone.
    require_same(benchmark_of(family), method, tmp_path, call=0 if method == "nap" else 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", COSINE)
def test_a_cosine_head_trains_and_resumes_on_the_device(method: str, tmp_path: Path) -> None:
    made: Any = METHODS[method].make()
    made.head = "cosine"
    require_same(benchmark_of("linear"), made, tmp_path)


@pytest.mark.parametrize(
    ("family", "training"),
    [
        ("linear", {"ema_decay": 0.9}),
        ("linear", {"keep_optimizer_state": True, "optimizer": "adamw", "lr": 0.01}),
        ("mlp", {"micro_batch_size": 5, "grad_clip_norm": 1.0}),
        ("mlp", {"optimizer": "adagrad", "lr": 0.1}),
        ("many labels", {"patience": 0, "epochs": 4, "ema_decay": 0.5}),
        pytest.param("convnet", {"ema_decay": 0.9, "augment": "flip"}, marks=pytest.mark.slow),
        pytest.param("clip_small", {"grad_checkpointing": True}, marks=pytest.mark.slow),
        pytest.param("clip_small", {"micro_batch_size": 3}, marks=pytest.mark.slow),
        pytest.param("small_rcnn", {"ema_decay": 0.9}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("method", ["er", pytest.param("nap", marks=pytest.mark.slow)])
def test_training_options_hold_on_the_device(
    family: str, training: dict[str, Any], method: str, tmp_path: Path
) -> None:
    benchmark = retrained(benchmark_of(family), training)
    require_same(benchmark, method, tmp_path, call=0 if method == "nap" else 2)


@contextmanager
def as_on_every_device() -> Iterator[None]:
    """Compute without the shortcuts of the CPU: other last bits grow in the course of a run."""

    def logits(head: LinearHead, features: torch.Tensor) -> torch.Tensor:
        return functional.linear(features, head.weight, head.bias)

    def loss(task: OneLabel, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(outputs, targets)

    with (
        sdpa_kernel(SDPBackend.MATH),
        mock.patch.object(LinearHead, "forward", logits),
        mock.patch.object(OneLabel, "loss", loss),
    ):
        yield


def require_same(benchmark: Benchmark, method: Any, out: Path, *, call: int = 2) -> None:
    """Assert that a run ends alike on the CPU, on the device, and after it was stopped there."""
    with as_on_every_device():
        on_cpu = outputs_of(benchmark, method, device="cpu")
    with simulated_device():
        there = outputs_of(benchmark, method, device=NAME)
        resumed = resumed_outputs_of(benchmark, method, out, call=call, device=NAME)
    for found, expected in zip(there, on_cpu, strict=True):
        np.testing.assert_allclose(
            comparable(found), comparable(expected), rtol=TOLERANCE, atol=TOLERANCE
        )
    last: list[Array] = there[-len(resumed) :]
    assert last
    for found, expected in zip(resumed, last, strict=True):
        np.testing.assert_array_equal(found, expected)
