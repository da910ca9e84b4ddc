"""About as many old samples as new ones, online too, where a window stands for a period."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import onward
from onward.benchmarks import BENCHMARKS
from onward.budget import Budget
from onward.checks import check_method, tiny_benchmark
from onward.checks.tiny_editions import tiny_like
from onward.methods.cumulative import CumulativeShares
from onward.train.method import TrainingSet
from onward.types import Benchmark, View

BOTH = pytest.mark.parametrize("name", ["cumulative_exp", "cumulative_equal"])


def observed(
    name: str, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch, **limits: float
) -> tuple[list[tuple[int, TrainingSet]], list[Any]]:
    """Return what each call of learn trains on, and the steps in memory after it."""
    trained: list[tuple[int, TrainingSet]] = []
    steps: list[Any] = []
    training_data, afterwards = CumulativeShares.training_data, CumulativeShares.on_learn_end

    def noted(self: CumulativeShares, new: View, budget: Budget) -> TrainingSet:
        trained.append((len(new), training_data(self, new, budget)))
        return trained[-1][1]

    def noted_afterwards(self: CumulativeShares, model: Any, new: View, budget: Budget) -> None:
        afterwards(self, model, new, budget)
        steps.append(self._memory.state()["steps"])

    monkeypatch.setattr(CumulativeShares, "training_data", noted)
    monkeypatch.setattr(CumulativeShares, "on_learn_end", noted_afterwards)
    onward.run(benchmark, name, limits=limits)
    return trained, steps


@BOTH
def test_a_period_at_a_time_all_are_trained_on_alike(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, steps = observed(name, tiny_benchmark("iid"), monkeypatch)
    for number, (new, training) in enumerate(trained):
        old = len(training.view) - new
        assert training.epoch == len(training.view)
        assert 0.8 * new < old <= new if number else old == 0
        assert steps[number].max() == number


@BOTH
def test_online_as_many_samples_as_half_the_memory_are_a_period(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = tiny_like(BENCHMARKS["clad-c"])
    memory, size = 45, benchmark.recipes["cpu"].batch_size
    recipe = replace(benchmark.recipes["cpu"], memory_size=memory)
    protocol = replace(benchmark.protocol, limits={"passes": 1, "stored_samples": memory})
    benchmark = replace(benchmark, recipes={"cpu": recipe}, protocol=protocol)
    trained, steps = observed(name, benchmark, monkeypatch)
    for (new, training), after in zip(trained, steps, strict=True):
        old = len(training.view) - new
        assert (training.epoch, training.replay) == (new, min(size, old))
        # Two views of ten fit into half of the memory, three do not.
        assert np.bincount(after)[-1] <= memory // 2
        assert len(after) <= memory
    assert max(np.bincount(after)[-1] for after in steps) > 10
    assert max(map(len, steps)) > 0.8 * memory
    assert steps[-1].max() == -(-len(trained) // 2) - 1


@BOTH
@pytest.mark.parametrize("most", [10, 13, 20, 31])
def test_online_no_more_is_kept_than_may_be_stored(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = tiny_like(BENCHMARKS["clad-c"])
    _, steps = observed(name, benchmark, monkeypatch, stored_samples=most)
    assert max(map(len, steps)) <= min(most, benchmark.recipes["cpu"].memory_size)


@BOTH
def test_online_a_run_is_resumed_within_a_window(name: str) -> None:
    only = ("resumed_runs_equal_uninterrupted_ones", "keeps_to_the_budget")
    assert len(check_method(name, tiny_like(BENCHMARKS["clad-c"]), only=only).passed) == 2
