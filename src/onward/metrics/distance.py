"""How a score changes with the time between what was learned and what is tested.

Distance is ``tested_on - learned_upto`` in periods: 0 on the diagonal of the score matrix,
positive for the future, negative for the past.

Unlike the triangle means, the functions here skip empty (NaN) cells. They describe how scores
vary with distance, and each distance is averaged from its own cells, so a missing triangle
removes points from the curve without changing the others.

A limit to keep in mind: large distances are reached only by early models tested on late periods.
An unusually hard last period therefore looks like decay.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onward.metrics.inputs import Floats, score_cube, score_matrix


class ByTimeDistance(NamedTuple):
    """Mean score at each signed distance, in periods, from -(T - 1) to T - 1.

    Attributes
    ----------
    distance
        ``tested_on - learned_upto``, ascending.
    mean
        Mean score over the filled cells at that distance; NaN where there are none.
    """

    distance: NDArray[np.int64]
    mean: Floats


def by_time_distance(R: ArrayLike) -> ByTimeDistance:
    """Mean score by signed distance in time between tested and learned period.

    ``mean(d) = mean of the filled R[i, j] with j - i = d``

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .20],
    ...      [.70, .85, .75]]
    >>> distance, mean = by_time_distance(R)
    >>> for d, m in zip(distance, mean):
    ...     print(f"{d:+d} {m:.3f}")
    -2 0.700
    -1 0.875
    +0 0.783
    +1 0.150
    +2 0.100

    References
    ----------
    Generalises CLEAR's in-domain (distance 0) and next-domain (distance +1).
    """
    R = score_matrix(R)
    distances = np.arange(1 - len(R), len(R), dtype=np.int64)
    means = np.full(len(distances), np.nan)
    for position, offset in enumerate(distances):
        cells = np.diagonal(R, offset=int(offset))
        filled = cells[~np.isnan(cells)]
        if filled.size:
            means[position] = filled.mean()
    return ByTimeDistance(distances, means)


def decay_rate(R: ArrayLike) -> float:
    """Score lost per period of distance into the future.

    ``-slope of the least-squares line through (j - i, R[i, j])`` over the filled cells with
    ``j >= i``, every cell weighing the same.

    Positive means the score falls with distance; the unit is that of R, per period. The line
    starts at the smallest distance the protocol fills, 0 under iid and 1 under streaming, so both
    have a rate. NaN when fewer than two distances are filled.

    Why: It says how soon a model has to be updated.

    Known problems: Data often moves in steps, and a straight line through steps hides them.

    Examples
    --------
    >>> R = [[.80, .70, .60],
    ...      [.90, .80, .70],
    ...      [.70, .85, .80]]
    >>> round(decay_rate(R), 3)  # .80 today, .70 in a period, .60 in two
    0.1

    References
    ----------
    Onward's own; ordinary least squares.
    """
    return _loss_per_period(score_matrix(R))


def per_class_decay_rate(per_class_R: ArrayLike) -> Floats:
    """Score lost per period of distance into the future, for each class.

    `decay_rate` of ``per_class_R[:, :, c]`` for every class c.

    Parameters
    ----------
    per_class_R
        Scores of shape (T, T, C): learned_upto, tested_on, class. Write NaN where a class has
        no sample in the tested period; such cells are skipped.

    Returns
    -------
        One rate per class, in the order of the last axis; NaN where a class has fewer than two
        distances.

    Examples
    --------
    >>> per_class_R = [[[.80, .50], [.70, .50], [.60, .50]],
    ...                [[.90, .50], [.80, .50], [.70, .50]],
    ...                [[.70, .50], [.85, .50], [.80, .50]]]
    >>> [round(float(rate), 3) for rate in per_class_decay_rate(per_class_R)]
    [0.1, 0.0]

    References
    ----------
    Onward's own; ordinary least squares.
    """
    cube = score_cube(per_class_R)
    return np.array([_loss_per_period(cube[:, :, c]) for c in range(cube.shape[2])])


def _loss_per_period(R: Floats) -> float:
    i, j = np.triu_indices(len(R))
    score = R[i, j]
    filled = ~np.isnan(score)
    score, distance = score[filled], (j - i)[filled].astype(np.float64)
    if len(np.unique(distance)) < 2:
        return float("nan")
    centred = distance - distance.mean()
    # (mean - score) instead of a minus sign in front, so that no decay is 0.0 and not -0.0.
    return float(centred @ (score.mean() - score) / (centred @ centred))
