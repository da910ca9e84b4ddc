"""Dropout draws from the seed, the call and the step: runs repeat, and resume exactly."""

from pathlib import Path

import numpy as np
import pytest
import torch
from interrupted import outputs_of, resumed_outputs_of

from onward.checks import tiny_benchmark
from onward.types import Benchmark

MODULE = """
from torch import nn

class Dropping(nn.Sequential):
    def __init__(self, input_shape):
        super().__init__(nn.Linear(input_shape[0], 8), nn.Dropout(0.5))
"""


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    (tmp_path / "dropping.py").write_text(MODULE)
    return tiny_benchmark(model=f"{tmp_path / 'dropping.py'}:Dropping")


def test_a_run_with_dropout_repeats_and_leaves_torch_s_generator_alone(
    benchmark: Benchmark,
) -> None:
    first = outputs_of(benchmark, "finetune")
    torch.manual_seed(5)
    before = torch.get_rng_state()
    again = outputs_of(benchmark, "finetune")
    assert torch.equal(torch.get_rng_state(), before)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_run_with_dropout_resumes_exactly(benchmark: Benchmark, tmp_path: Path) -> None:
    whole = outputs_of(benchmark, "er")
    resumed = resumed_outputs_of(benchmark, "er", tmp_path / "cut")
    for found, expected in zip(resumed, whole[-len(resumed) :], strict=True):
        np.testing.assert_array_equal(found, expected)
