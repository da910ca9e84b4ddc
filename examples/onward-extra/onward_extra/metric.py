"""A metric: a pure function of the score matrix."""

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics import Metric
from onward.metrics.inputs import score_matrix


def worst_next(scores: ArrayLike) -> float:
    """Return the worst score on the period right after.

    Examples
    --------
    >>> worst_next([[0.9, 0.8, 0.7], [0.9, 0.9, 0.6], [0.9, 0.9, 0.9]])
    0.6
    """
    after = np.diagonal(score_matrix(scores), 1)
    return float(after.min()) if len(after) else float("nan")


METRIC = Metric(
    name="extra.worst_next",
    function=worst_next,
    source="onward-extra",
    higher_is_better=True,
    summary="worst score on the period right after",
)
