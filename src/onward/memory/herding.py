"""Herding: a few samples whose mean is close to the mean of all."""

import numpy as np

from onward.types import Array, Rows


def herd(features: Array, count: int) -> Rows:
    """Choose samples one by one, each such that the mean of those chosen comes closest to all's.

    Parameters
    ----------
    features
        One row per sample, of any length: directions are compared.
    count
        How many to choose, or all of them where there are fewer.

    References
    ----------
    Rebuffi, Kolesnikov, Sperl and Lampert, iCaRL: Incremental Classifier and Representation
    Learning, CVPR 2017, algorithm 4.

    Examples
    --------
    >>> herd(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 2).tolist()
    [1, 0]
    """
    length = np.linalg.norm(features, axis=1, keepdims=True)
    units = features / np.where(length > 0, length, 1)
    mean, summed = units.mean(0) if len(units) else 0, np.zeros(units.shape[1])
    left = np.ones(len(units), np.bool_)
    chosen: list[int] = []
    for number in range(min(count, len(units))):
        away = np.linalg.norm(mean - (summed + units) / (number + 1), axis=1)
        best = int(np.where(left, away, np.inf).argmin())
        chosen.append(best)
        left[best] = False
        summed += units[best]
    return np.array(chosen, np.int64)
