"""How large a difference between two methods may be, without assuming the shape of differences.

The interval holds every shift that the sign-flip test of `onward.metrics.paired` would not refuse:
the two never contradict each other.

References
----------
Hartigan. "Using Subsample Values as Typical Values." JASA 64, 1969.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics.inputs import Floats, score_vector
from onward.metrics.paired import EXACT_UP_TO

_DRAWS = 99_999
_SEED = 0


def sign_flip_interval(differences: ArrayLike, level: float = 0.05) -> tuple[float, float]:
    """Return the shifts d for which the sign-flip test of ``differences - d`` has ``p > level``.

    A sign pattern is at least as far out as the observed one at shift d if the mean of the
    differences whose sign it turns is on the other side of d. So the ends of the interval are the
    k-th smallest and the k-th largest mean of all non-empty subsets, ``k = floor(level 2^n / 2)``.
    With too few seeds for any answer (k = 0) it reaches from minus to plus infinity. Above 20
    differences, 99,999 subsets are drawn with the fixed seed 0, which is as valid.

    Parameters
    ----------
    differences
        One number per seed.
    level
        The share of such intervals that misses the truth.

    Examples
    --------
    >>> sign_flip_interval([1, 2, 3, 4, 5, 6])
    (1.0, 6.0)
    >>> sign_flip_interval([1, 2, 3, 4, 5])
    (-inf, inf)

    References
    ----------
    Hartigan 1969.
    """
    d = score_vector(differences, "differences")
    if np.isnan(d).any():
        raise ValueError("expected differences without gaps, got NaN; leave that seed out")
    means = _all_means(d) if len(d) <= EXACT_UP_TO else _drawn_means(d)
    k = math.floor(level * (len(means) + 1) / 2)
    if k == 0:
        return -math.inf, math.inf
    return float(means[k - 1]), float(means[-k])


def _all_means(d: Floats) -> Floats:
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in d:
        sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
    return np.sort(sums[1:] / sizes[1:])


def _drawn_means(d: Floats) -> Floats:
    rng = np.random.default_rng(_SEED)
    members = rng.integers(0, 2, size=(_DRAWS, len(d)), dtype=np.int8)
    members = members[members.any(axis=1)]
    return np.sort((members @ d) / members.sum(axis=1))
