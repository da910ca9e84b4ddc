"""Whether two things go together over a few classes, without claiming more than these can show."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics.inputs import Floats, score_vector

_DRAWS = 1999
_SEED = 0
_TIE = 1e-9


@dataclass(frozen=True)
class Correlation:
    """A rank correlation over units, its interval, its p-value, and how many units there are."""

    value: float
    low: float
    high: float
    p: float
    units: int
    points: int


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation: Pearson's, of ranks; ties have their mean rank.

    ``cov(rank x, rank y) / (std(rank x) std(rank y))``; NaN where either never changes.

    Examples
    --------
    >>> spearman([1, 2, 3, 4], [10, 20, 40, 30])
    0.8

    References
    ----------
    Spearman. "The Proof and Measurement of Association between Two Things." 1904.
    """
    left, right = _ranks(score_vector(x, "x")), _ranks(score_vector(y, "y"))
    if len(left) != len(right):
        raise ValueError(f"expected as many numbers in x as in y, got {len(left)}, {len(right)}")
    left, right = left - left.mean(), right - right.mean()
    size = np.sqrt((left @ left) * (right @ right))
    return round(float(left @ right / size), 12) if size > 0 else float("nan")


def rank_correlation(
    x: ArrayLike, y: ArrayLike, units: Sequence[Hashable], *, level: float = 0.05
) -> Correlation:
    """Return how x and y go together, where several points belong to one unit, such as a class.

    `spearman` over all points. Its p-value comes from dealing the units' y out among them, as
    wholes where they have as many points and point by point of other units otherwise; its interval
    from drawing units anew. So a class with many points counts as one class.

    Why: nine classes over six periods are 54 points, but not 54 things that were seen.

    Parameters
    ----------
    x, y
        One number per point.
    units
        What each point belongs to.
    level
        What the interval misses.

    Examples
    --------
    >>> found = rank_correlation([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 5, 6], "abcdef")
    >>> round(found.value, 2), found.p < 0.05, found.units
    (0.94, True, 6)

    References
    ----------
    Good. "Permutation, Parametric and Bootstrap Tests of Hypotheses." 2005.
    """
    left, right = score_vector(x, "x"), score_vector(y, "y")
    seen = spearman(left, right)
    names, owner = np.unique(np.array(list(units)), return_inverse=True)
    places = [np.flatnonzero(owner == at) for at in range(len(names))]
    if len(names) < 3 or np.isnan(seen):
        return Correlation(seen, float("nan"), float("nan"), float("nan"), len(names), len(left))
    rng = np.random.default_rng(_SEED)
    hits, drawn = 0, []
    for _ in range(_DRAWS):
        other = right.copy()
        for mine, theirs in zip(places, rng.permutation(len(names)), strict=True):
            given = places[theirs]
            other[mine] = right[given[np.arange(len(mine)) % len(given)]]
        value = spearman(left, other)
        hits += bool(abs(value) >= abs(seen) - _TIE)
        some = np.concatenate([places[at] for at in rng.integers(0, len(names), len(names))])
        drawn.append(spearman(left[some], right[some]))
    low, high = np.nanquantile(drawn, [level / 2, 1 - level / 2])
    p = (1 + hits) / (1 + _DRAWS)
    return Correlation(seen, float(low), float(high), p, len(names), len(left))


def _ranks(values: Floats) -> Floats:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])
