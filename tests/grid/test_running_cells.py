"""A cell of the grid that runs: it runs its method, and plays by the rules."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from cells import COVERING, EVERY_RUNNING_CELL, RUNNING, is_cheap, name, tiny
from exercised import MEMORY, Exercise, exercise

from onward.benchmarks import BENCHMARKS, retrained
from onward.checks import check_method
from onward.checks.method import CHECKS
from onward.grid import Cell
from onward.methods import METHODS
from onward.types import Benchmark

# Seeds and batch sizes. A projection happens only where gradients disagree and a mixture only where
# the past asks for it, which in runs as short as these may not be so. Gradients of single samples
# disagree more.
ATTEMPTS = ((0, None), (1, None), (2, None), (0, 1))
# Online there is an order of days, which not every stream has.
NO_DAYS = "online_shows_each_sample_once"
# The checks that repeat no run often and start no process; the slow test makes all of them.
QUICK = (
    "runs_to_the_end",
    "outputs_decode",
    "asks_only_for_the_present",
    "keeps_to_the_budget",
    "seeded_runs_are_identical",
    "predict_changes_nothing",
    "learn_leaves_its_view_alone",
    "reads_only_what_it_is_shown",
    "holds_no_stream",
    "keeps_only_what_it_holds",
)


def test_the_sample_covers_every_method_every_benchmark_and_every_task_kind() -> None:
    assert {cell.method for cell in COVERING} == METHODS.keys()
    assert len(COVERING) == len(set(COVERING))
    covered = Counter(cell.benchmark for cell in COVERING)
    assert covered.keys() == BENCHMARKS.keys()
    assert {BENCHMARKS[each].task for each in covered} == {b.task for b in BENCHMARKS.values()}
    assert all(cell in RUNNING for cell in COVERING)


@EVERY_RUNNING_CELL
def test_a_running_cell_runs_its_method(cell: Cell) -> None:
    if cell.method == "finetune":
        found = _exercised("finetune", tiny("finetune", cell.benchmark), *ATTEMPTS[0])
        assert not found.overridden | found.otherwise | found.owed
    else:
        shows = (attempt for attempt in ATTEMPTS if not _missing(cell, *attempt))
        assert next(shows, None), _missing(cell, *ATTEMPTS[0])


def _missing(cell: Cell, seed: int, batch_size: int | None) -> set[str]:
    """Return what is missing of a method that is really another one than finetuning."""
    benchmark = tiny(cell.method, cell.benchmark)
    found, plain = (
        _exercised(method, benchmark, seed, batch_size) for method in (cell.method, "finetune")
    )
    missing = found.owed - found.otherwise
    if np.array_equal(found.outputs, plain.outputs):
        missing.add("other outputs")
    if found.gradient_method and not found.overridden & found.otherwise:
        missing.add("another answer to a question that it answers by itself")
    if found.stored and found.gradient_method and MEMORY not in found.otherwise:
        missing.add("a look at what it stores")
    if found.apart and not {"compute_loss", "on_after_backward"} & found.otherwise:
        missing.add("a use of samples that are replayed apart")
    return missing


@cache
def _exercised(method: str, benchmark: Benchmark, seed: int, batch_size: int | None) -> Exercise:
    if batch_size is not None:
        benchmark = retrained(benchmark, {"batch_size": batch_size})
    return exercise(benchmark, method, seed)


@pytest.mark.parametrize("cell", COVERING, ids=name)
def test_the_sample_plays_by_the_rules(cell: Cell) -> None:
    resume = ("resumed_runs_equal_uninterrupted_ones",)
    _passes(cell, QUICK + resume if is_cheap(tiny(cell.method, cell.benchmark)) else QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("cell", RUNNING, ids=name)
def test_every_running_cell_plays_by_the_rules(cell: Cell) -> None:
    _passes(cell, [check.__name__ for check in CHECKS])


def _passes(cell: Cell, only: Sequence[str]) -> None:
    benchmark = tiny(cell.method, cell.benchmark)
    report = check_method(cell.method, benchmark, only=only)
    skipped = {finding.check for finding in report.skipped}
    dated = benchmark.stream(0).dated
    assert skipped == (set() if dated or NO_DAYS not in only else {NO_DAYS})
    assert len(report.passed) + len(skipped) == len(only)
