"""CLAD's metrics: accuracy per class over time, in one number.

References
----------
Verwimp, Yang, Parisot, Hong, McDonagh, Pérez-Pellitero, De Lange, Tuytelaars. "CLAD: A realistic
Continual Learning benchmark for Autonomous Driving." Neural Networks 161, 2023.
"""

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics.inputs import mean, score_table, score_vector, share

CHALLENGE_IOU = {1: 0.5, 2: 0.5, 3: 0.7, 4: 0.7, 5: 0.7, 6: 0.5}
"""How far a box must overlap in the challenge, by category: wide vehicles further than others."""


def amca(class_accuracy: ArrayLike) -> float:
    """Average mean class accuracy: the mean over test times of the mean over classes.

    ``1 / |T| · Σ_t  1 / C_t · Σ_c A[t, c]``, with the C_t classes that have test samples at time t.
    Each class counts as much as any other, however rare. NaN if at some time no class was tested.

    Parameters
    ----------
    class_accuracy
        ``A[t, c]``, the accuracy on class c at test time t, of shape (times, classes); NaN where a
        class has no test samples.

    Examples
    --------
    >>> round(amca([[0.5, 0.9], [0.7, 0.3]]), 3)  # (0.7 + 0.5) / 2
    0.6
    >>> nan = float("nan")
    >>> round(amca([[0.5, 0.9, nan], [0.7, 0.3, nan]]), 3)  # nobody has seen the third class
    0.6

    References
    ----------
    CLAD, Eq. 1. The released code averages over times first, which is the same number while the
    same classes are tested at all times.
    """
    table = score_table(class_accuracy, "accuracies of shape (times, classes)")
    return mean(share(np.nansum(table, axis=1), (~np.isnan(table)).sum(1)))


def area_below_curve(accuracy: ArrayLike, seen: ArrayLike) -> float:
    """Area below the accuracy curve, over its width: the mean accuracy while learning.

    ``Σ_k (s_{k+1} - s_k) · (a_k + a_{k+1}) / 2 / (s_n - s_1)``: between two tests the curve is a
    straight line. The finer the grain of the tests, the closer it is to testing all the time; a
    drop between two tests is not seen. The result is on the scale of the accuracies, and NaN if one
    of them is.

    Parameters
    ----------
    accuracy
        The accuracy at each test.
    seen
        How many samples had been learned from at each test, increasing.

    Examples
    --------
    >>> area_below_curve([0.0, 0.8, 0.4], seen=[0, 100, 300])  # (100 · 0.4 + 200 · 0.6) / 300
    0.5333333333333333
    >>> area_below_curve([0.7], seen=[300])  # one test is all that is known
    0.7

    References
    ----------
    CLAD, section 2.4, which proposes it and uses `amca` in its place for its cost.
    """
    heights = score_vector(accuracy, "accuracies")
    places = score_vector(seen, "numbers of samples seen")
    if len(heights) != len(places) or not (np.diff(places) > 0).all():
        raise ValueError(
            f"expected one increasing number of samples seen for each of {len(heights)} "
            f"accuracies, got {places.tolist()}"
        )
    if len(heights) == 1:
        return float(heights[0])
    return float(np.trapezoid(heights, places) / (places[-1] - places[0]))
