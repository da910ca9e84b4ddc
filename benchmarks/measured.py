"""What two ways to do the same cost: measured in turns in one process, compared by medians."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from onward.budget import Budget
from onward.types import Array, Call, Column, Samples, Table, View

Way = Callable[[], float]
"""Does something once and returns its number: seconds, or samples per second."""


@dataclass(frozen=True)
class Target:
    """What a ratio must be.

    Parameters
    ----------
    bound
        The smallest ratio, or the largest where `at_least` is false.
    at_least
        Whether more is better.
    tolerance
        How far beyond the bound a ratio may be, as a share of it: wall time on a shared machine.
    """

    bound: float
    at_least: bool
    tolerance: float = 0.0

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"

    def is_met(self, ratio: float) -> bool:
        """Whether a ratio is what it must be."""
        if self.at_least:
            return ratio >= self.bound * (1 - self.tolerance)
        return ratio <= self.bound * (1 + self.tolerance)


@dataclass(frozen=True)
class Measured:
    """One line of a benchmark.

    Parameters
    ----------
    name
        The case.
    ours, peer
        Medians over rounds.
    ratio
        The median of the rounds' own ratios, ours by peer: the load of a shared machine changes
        between rounds more than within one.
    unit
        Of `ours` and `peer`, with the clock: CPU or wall time.
    target
        What the ratio must be; None where it is reported alone.
    """

    name: str
    ours: float
    peer: float
    ratio: float
    unit: str
    target: Target | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the target is met, None without one."""
        return None if self.target is None else self.target.is_met(self.ratio)

    def line(self) -> str:
        """Return it as one line of text."""
        found = f"{self.name}: ours {self.ours:.4g}, peer {self.peer:.4g} {self.unit}: "
        if self.target is None:
            return f"{found}{self.ratio:.3f} (no target)"
        judged = "ok" if self.passed else "below"
        return f"{found}{self.ratio:.3f} (must be {self.target}): {judged}"

    def as_json(self) -> dict[str, object]:
        """Return it as an object of JSON."""
        return {
            "name": self.name,
            "ours": self.ours,
            "peer": self.peer,
            "unit": self.unit,
            "ratio": self.ratio,
            "target": None if self.target is None else str(self.target),
            "passed": self.passed,
        }


def measure(
    name: str, ours: Way, peer: Way, rounds: int, unit: str, target: Target | None = None
) -> Measured:
    """Measure both ways in turns, this many times each."""
    found: list[tuple[float, float]] = []
    for number in range(rounds):
        gc.collect()
        # Who begins changes: what follows may find warmer caches.
        if number % 2:
            other, own = peer(), ours()
        else:
            own, other = ours(), peer()
        found.append((own, other))
    owns, others = zip(*found, strict=True)
    ratio = statistics.median(own / other for own, other in found)
    return Measured(name, statistics.median(owns), statistics.median(others), ratio, unit, target)


def cpu_milliseconds(act: Callable[[], object]) -> float:
    """Return the CPU time of this process for a call."""
    begun = time.process_time()
    act()
    return 1000 * (time.process_time() - begun)


def table_of(column: Column) -> Table:
    """Return a table with these inputs and nothing else."""
    return Table(pa.table({"id": pa.array(range(column.shape[0]))}), {"input": column}, "made up")


def view_of(table: Table, rows: Array, labels: Array, classes: int, budget: Budget) -> View:
    """Return a view to learn from."""
    budget.open(rows)
    names = tuple(f"class {number}" for number in range(classes))
    return View(table, Samples(rows, labels), names, Call(budget))


def synthetic_features(samples: int, width: int, classes: int) -> tuple[Array, Array]:
    """Return features and labels."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((samples, width), np.float32)
    return features, rng.integers(0, classes, samples)
