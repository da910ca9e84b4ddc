"""How many pairs of each period survive a filter, and whether it favours the past."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from onward.metrics.student import student_quantile

PAST, PRESENT, UNSURE, EVEN = (
    "favours the past",
    "favours the present",
    "cannot tell",
    "the same in all periods",
)
_PERIODS = 3
_Z = 1.959964
_LEVEL = 0.05


@dataclass(frozen=True)
class Bias:
    """How the share that survives changes per year, with a 95 % interval, and what that says.

    Shares are regressed on time, weighted by the number of pairs; the interval is what chance does
    to so many pairs. It is `steady` if the line also stands out from how periods differ anyway: a
    filter that loves one period alone favours the past, but not steadily.
    """

    slope: float | None
    low: float | None
    high: float | None
    verdict: str
    steady: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def bias(before: Sequence[int], after: Sequence[int], years: Sequence[float]) -> Bias:
    """Return how a step favours the past or the present.

    Parameters
    ----------
    before, after
        How many pairs each period has before the step, and after it.
    years
        When each period is.

    Examples
    --------
    >>> found = bias([1000] * 5, [900, 800, 700, 600, 500], range(2016, 2021))
    >>> found.verdict, found.steady
    ('favours the past', True)
    >>> bias([50] * 5, [25, 27, 24, 26, 25], range(2016, 2021)).verdict
    'cannot tell'
    """
    count, kept = np.asarray(before, float), np.asarray(after, float)
    there = count > 0
    count, kept, time = count[there], kept[there], np.asarray(years, float)[there]
    if len(count) < _PERIODS:
        return Bias(None, None, None, UNSURE)
    share, whole = kept / count, kept.sum() / count.sum()
    if np.ptp(share) == 0:
        return Bias(0.0, 0.0, 0.0, EVEN)
    middle = (count * time).sum() / count.sum()
    spread = (count * (time - middle) ** 2).sum()
    slope = float((count * (time - middle) * share).sum() / spread)
    chance = float(np.sqrt(whole * (1 - whole) / spread))
    low, high = slope - _Z * chance, slope + _Z * chance
    left = share - whole - slope * (time - middle)
    free = len(count) - 2
    around = float(np.sqrt((count * left**2).sum() / free / spread))
    steady = abs(slope) > max(_Z * chance, student_quantile(_LEVEL, free) * around)
    verdict = PAST if high < 0 else PRESENT if low > 0 else UNSURE
    return Bias(slope, low, high, verdict, steady)
