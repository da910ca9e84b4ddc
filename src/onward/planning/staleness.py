"""The staleness curve: what a model loses with every period that it is left alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.planning.intervals import Interval, interval


@dataclass(frozen=True)
class Stale:
    """Points lost at a distance, ``tested_on - learned_upto``, against the freshest model."""

    distance: int
    loss: float
    interval: Interval
    cells: int


def staleness(scores: NDArray[np.float64]) -> list[Stale]:
    """Return what models lose with their age, in the same periods as the freshest ones.

    ``loss(k) = mean_j (R[j - 1, j] - R[j - k, j])``, the mean over all periods j for which both
    cells are filled: a period that is hard for everyone is on both sides.

    Parameters
    ----------
    scores
        An array (seed, learned_upto, tested_on).

    Examples
    --------
    >>> R = np.array([[.0, 80., 70.], [0, 0, 78], [0, 0, 0]])
    >>> [(one.distance, one.loss) for one in staleness(R[None])]
    [(1, 0.0), (2, 8.0)]
    """
    freshest = np.diagonal(scores, 1, axis1=1, axis2=2)
    found = []
    for distance in range(1, scores.shape[1]):
        aged = np.diagonal(scores, distance, axis1=1, axis2=2)
        lost = freshest[:, distance - 1 :] - aged
        known = np.isfinite(lost).all(axis=0)
        if known.any():
            by_seed = lost[:, known].mean(axis=1)
            cells = int(known.sum())
            found.append(Stale(distance, float(by_seed.mean()), interval(by_seed), cells))
    return found
