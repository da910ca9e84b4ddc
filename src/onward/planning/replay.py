"""Replaying a policy on a score matrix: which model serves when, and how good it is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.planning.drift import Drift
from onward.planning.policies import Policy, Seen


@dataclass(frozen=True)
class Timing:
    """When labels come.

    Parameters
    ----------
    periods
        How many there are.
    delay
        By how many periods labels come late.
    inside
        Whether the runs were made with that delay: row i of R is then the model that there is at
        the end of period i. Otherwise that is row i - delay.
    """

    periods: int
    delay: int = 0
    inside: bool = False

    def row(self, period: int) -> int:
        """Return which row of R is the newest model at the end of a period."""
        return period if self.inside else period - self.delay

    def learned(self, row: int) -> int:
        """Return the newest period whose labels a model has learned."""
        return row - self.delay if self.inside else row

    @property
    def served(self) -> range:
        """The periods in which a model can be in service: those after the first labels came."""
        return range(self.delay + 1, self.periods)


@dataclass(frozen=True, eq=False)
class Replayed:
    """What became of a policy under one seed.

    ``rows`` says which model was in service in each served period, ``scores`` how good it was, NaN
    where R has no such cell; ``updated`` at the end of which periods there was an update, and
    ``unknown`` at the end of which the policy asked for a drift that nobody has measured.
    """

    rows: tuple[int, ...]
    scores: NDArray[np.float64]
    updated: tuple[int, ...]
    unknown: tuple[int, ...] = ()


def replay(
    policy: Policy,
    R: NDArray[np.float64],
    timing: Timing,
    drift: Drift | None = None,
) -> Replayed:
    """Replay a policy; it is shown what could be known at the end of each period, and no more.

    The first model goes into service as soon as there is one. An update at the end of a period
    serves from the next one on.

    Parameters
    ----------
    policy
        What to do.
    R
        Scores in points, of one seed.
    timing
        When labels come.
    drift
        How far periods are from each other. What it takes labels to measure is known once they are
        there.

    Examples
    --------
    >>> from onward.planning.policies import Every
    >>> R = np.array([[90., 80., 70., 60.], [0, 90, 80, 70], [0, 0, 90, 80], [0, 0, 0, 90]])
    >>> found = replay(Every(2), R, Timing(4))
    >>> found.rows, found.scores.tolist(), found.updated
    ((0, 0, 2), [80.0, 70.0, 80.0], (2,))
    """
    rows: list[int] = []
    updated: list[int] = []
    unknown: list[int] = []
    row = since = -1
    for period in range(timing.delay, timing.periods - 1):
        newest = timing.row(period)
        if row < 0:
            row, since = newest, 0
        else:
            since += 1
            # Scores of this model in the periods that it served, once their labels are there.
            told = range(period - since + 1, period - timing.delay + 1)
            scores = {at: float(R[row, at]) for at in told if np.isfinite(R[row, at])}
            far = _drift(drift, timing.learned(row), period, timing.delay)
            if policy.kind == "drift" and far is None:
                unknown.append(period)
            if policy.updates(Seen(period, since, scores, far)):
                row, since = newest, 0
                updated.append(period)
        rows.append(row)
    served = np.array([R[at, period] for at, period in zip(rows, timing.served, strict=True)])
    return Replayed(tuple(rows), served, tuple(updated), tuple(unknown))


def _drift(drift: Drift | None, learned: int, period: int, delay: int) -> float | None:
    if drift is None:
        return None
    newest = max(period - delay, learned) if drift.needs_labels else period
    found = float(drift.values[learned, newest])
    return found if np.isfinite(found) else None
