"""What a learner may spend: counted, and refused when spent."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onward.errors import BudgetSpentError, LookAheadError, OnwardError, unknown

if TYPE_CHECKING:
    from onward.train.training_log import TrainingLog

Rows = NDArray[np.int64]

LIMITS: Mapping[str, str] = {
    "iterations": "optimiser steps in one call of learn",
    "passes": "readings of each new sample in one call of learn",
    "macs": "forward multiply-accumulates in one call of learn",
    "parameters": "model parameters at any moment",
    "stored_samples": "samples kept from one call to the next",
    "stored_bytes": "bytes of samples kept from one call to the next",
    "batch_size": "samples in one optimiser step",
    "new_in_batch": "new samples in one optimiser step",
}
COMPUTE = ("iterations", "macs")
"""Those that are about work, and not about samples or models."""
REPORTED = (*COMPUTE, "parameters", "batch_size", "new_in_batch")
"""Those that are counted only as far as a learner reports them, by `spend` and `declare`. Samples
that are read or held are counted for any learner."""


class Budget:
    """The allowance of one learner through one run.

    Parameters
    ----------
    limits
        Upper bounds by the names of `LIMITS`. What is not limited is counted all the same.
    sample_bytes
        The size of one stored sample's input.
    rules
        Those of the limits that the protocol sets: a refusal calls them its rules.

    Examples
    --------
    >>> budget = Budget({"iterations": 3})
    >>> budget.open(np.arange(10))
    >>> budget.spend(iterations=3, batch_size=32)
    >>> budget.left("iterations")
    0.0
    >>> budget.spend(iterations=1)
    Traceback (most recent call last):
    onward.errors.BudgetSpentError: the budget allows iterations = 3 (optimiser steps in one call \
of learn), found 4. Spend less, or give the run a larger budget
    """

    # No instance attribute can stand in for a method or for `limits`: nobody who is limited may
    # change the limits.
    __slots__ = (
        "_limits",
        "_rules",
        "_shown",
        "_spent",
        "_totals",
        "charge",
        "checkpoint",
        "held",
        "most_stored",
        "parameters",
        "sample_bytes",
        "training_log",
    )

    def __init__(
        self,
        limits: Mapping[str, float] | None = None,
        sample_bytes: int = 0,
        rules: Mapping[str, float] | None = None,
    ) -> None:
        self._limits: Mapping[str, float] = MappingProxyType(dict(limits or {}))
        self._rules = dict(rules or {})
        for name in self.limits:
            if name not in LIMITS:
                raise unknown("budget", name, LIMITS, "onward run --help")
            if not (0 < self.limits[name] < np.inf):
                raise OnwardError(
                    f"expected a positive number for the budget {name}, found {self.limits[name]}"
                )
        self._totals = {"samples": 0, "iterations": 0, "macs": 0}
        self.parameters = 0
        self.held: Rows = np.empty(0, np.int64)
        self.most_stored = 0
        self.sample_bytes = sample_bytes
        self._shown: Rows = np.empty(0, np.int64)
        self._spent: dict[str, float] = {}
        self.checkpoint: Callable[..., None] = lambda learner, **_: None
        self.charge: Callable[[float], None] = lambda share: None
        self.training_log: TrainingLog | None = None

    @property
    def limits(self) -> Mapping[str, float]:
        """Upper bounds by the names of `LIMITS`. Read-only."""
        return self._limits

    @property
    def spent(self) -> Mapping[str, float]:
        """What this call of `learn` has spent. Read-only."""
        return MappingProxyType(self._spent)

    @property
    def totals(self) -> Mapping[str, int]:
        """What the run has spent. Read-only."""
        return MappingProxyType(self._totals)

    def resume(self, totals: Mapping[str, int], held: Rows) -> None:
        """Continue with what a run had spent and held (the loop does this)."""
        self._totals.update(totals)
        self.held = held

    def open(self, shown: Rows, already_spent: Mapping[str, float] | None = None) -> None:
        """Begin a call of `learn` that shows these rows, or go on with one (the loop does this)."""
        self._shown = shown
        self._spent = {"iterations": 0, "passes": 0, "macs": 0, **(already_spent or {})}

    def left(self, what: str) -> float:
        """Return how much of an allowance this call still has; infinite without a limit."""
        return float(self.limits.get(what, np.inf) - self._spent[what])

    def spend(
        self, *, iterations: int = 0, macs: int = 0, batch_size: int = 0, new_in_batch: int = 0
    ) -> None:
        """Count work before it is done; raise if the budget does not have it."""
        amounts = iterations, macs, batch_size, new_in_batch
        is_whole = not (iterations % 1 or macs % 1 or batch_size % 1 or new_in_batch % 1)
        # NaN is neither above 0 nor below.
        if not (is_whole and min(amounts) >= 0):
            raise OnwardError(f"expected work as whole numbers of at least 0, found {amounts}")
        if self._limits:
            self._refuse_above("batch_size", batch_size)
            self._refuse_above("new_in_batch", new_in_batch)
            self._refuse_above("iterations", self._spent["iterations"] + iterations)
            self._refuse_above("macs", self._spent["macs"] + macs)
        self._spent["iterations"] += iterations
        self._spent["macs"] += macs
        self._totals["iterations"] += iterations
        self._totals["macs"] += macs

    def read(self, rows: Rows) -> None:
        """Count the inputs that a view hands out; a pass counts those shown by this call."""
        if "passes" in self._limits:
            new = np.count_nonzero(np.isin(rows, self._shown))
            passes = self._spent["passes"] + new / max(len(self._shown), 1)
            # A sum of fractions of a pass may exceed a whole number by rounding alone.
            self._refuse_above("passes", round(passes, 9))
            self._spent["passes"] = passes
        self._totals["samples"] += len(rows)

    def declare(self, *, parameters: int) -> None:
        """State the size of the model in use."""
        self._refuse_above("parameters", parameters)
        self.parameters = max(self.parameters, parameters)

    def hold(self, rows: Rows) -> None:
        """Keep exactly these samples until the next call; all others are let go for good.

        Only samples shown by this call, or held since before, can be kept.
        """
        self._refuse_above("stored_samples", len(rows))
        self._refuse_above("stored_bytes", len(rows) * self.sample_bytes)
        self.require(rows, "to hold")
        self.held = np.array(rows, np.int64)
        self.most_stored = max(self.most_stored, len(rows))

    def require(self, rows: Rows, purpose: str) -> None:
        """Raise unless these samples are shown by this call or held since before."""
        strangers = np.setdiff1d(rows, np.concatenate([self.held, self._shown]))
        if len(strangers):
            raise LookAheadError(
                f"expected {purpose} samples that are shown now or were held before, found "
                f"{len(strangers)} others (first: row {strangers[0]}). Keep samples with "
                "budget.hold(rows) when they are shown"
            )

    def _refuse_above(self, what: str, amount: float) -> None:
        limit = self._limits.get(what)
        if limit is not None and amount > limit:
            giver, advice = "the budget", "Spend less, or give the run a larger budget"
            if self._rules.get(what) == limit:
                giver = "the protocol's rule"
                advice = "Spend less; a run with another limit is not by the rules"
            raise BudgetSpentError(
                f"{giver} allows {what} = {limit:.15g} ({LIMITS[what]}), found {amount:.15g}. "
                f"{advice}"
            )


@contextlib.contextmanager
def working(budgets: Sequence[Budget]) -> Iterator[None]:
    """Charge the time that passes here to these runs, in equal parts, and to no other."""
    for budget in budgets:
        budget.charge(1 / len(budgets))
    try:
        yield
    finally:
        for budget in budgets:
            budget.charge(0.0)
