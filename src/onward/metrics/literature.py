"""The metrics of the older continual-learning literature, each named after its paper.

A name is ``source_what``: `gem_backward_transfer` is what Lopez-Paz and Ranzato call backward
transfer. The source comes first because the words alone do not identify a number. On

>>> R = [[.80, .10, .10],
...      [.90, .80, .10],
...      [.70, .85, .75]]

two papers disagree even about the sign of "backward transfer",

>>> round(gem_backward_transfer(R), 3), round(diaz_rodriguez_backward_transfer(R), 3)
(-0.025, 0.017)

and `onward.metrics.clear.backward_transfer` is 0.817, because it is not a difference at all.

Sources write R with indices from 1 and the last model as T; the formulas below do the same, while
``R[i, j]`` in code counts from 0. Empty cells are treated as in `onward.metrics.clear`: NaN
among the cells a metric needs, or no such cell, gives NaN.

References
----------
.. [gem] Lopez-Paz, Ranzato. "Gradient Episodic Memory for Continual Learning." NeurIPS 2017,
   arXiv:1706.08840.
.. [chaudhry] Chaudhry, Dokania, Ajanthan, Torr. "Riemannian Walk for Incremental Learning:
   Understanding Forgetting and Intransigence." ECCV 2018, arXiv:1801.10112.
.. [diaz_rodriguez] Diaz-Rodriguez, Lomonaco, Filliat, Maltoni. "Don't forget, there is more than
   forgetting: new metrics for Continual Learning." 2018, arXiv:1810.13166.
"""

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics import clear
from onward.metrics.inputs import mean, score_matrix, score_vector


def gem_average_accuracy(R: ArrayLike) -> float:
    """Mean score of the final model over all periods: the last row.

    ``sum_i R[T, i] / T``

    Why: It is the plainest question: how good is what is left in the end?

    Known problems: It says nothing about the way there.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(gem_average_accuracy(R), 3)  # (.70 + .85 + .75) / 3
    0.767

    References
    ----------
    Lopez-Paz and Ranzato 2017, "Average Accuracy".
    """
    return mean(score_matrix(R)[-1])


def gem_backward_transfer(R: ArrayLike) -> float:
    """Mean change on a period from just after learning it to the end of the stream.

    ``sum_{i<T} (R[T, i] - R[i, i]) / (T - 1)``

    Negative means forgetting. Only the final model counts; `diaz_rodriguez_backward_transfer`
    averages over every later model.

    Why: It tells what later periods did to earlier ones.

    Known problems: Whoever learned nothing has nothing to forget: read it beside a score.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(gem_backward_transfer(R), 3)  # ((.70 - .80) + (.85 - .80)) / 2
    -0.025

    References
    ----------
    Lopez-Paz and Ranzato 2017, "Backward Transfer".
    """
    R = score_matrix(R)
    return mean((R[-1] - np.diagonal(R))[:-1])


def gem_forward_transfer(R: ArrayLike, baseline: ArrayLike) -> float:
    """Mean gain over an untrained model on the period about to be learned.

    ``sum_{i>=2} (R[i-1, i] - b[i]) / (T - 1)``

    Why: It tells whether what was learned helps with what is to come.

    Known problems: It depends on which untrained model it is compared with.

    Parameters
    ----------
    R
        Score matrix, rows learned_upto and columns tested_on.
    baseline
        Score of an untrained model on each of the T periods. The first is not used and may be
        NaN: no model of the run precedes the first period.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .20],
    ...      [.70, .85, .75]]
    >>> round(gem_forward_transfer(R, [.05, .10, .05]), 3)  # ((.10 - .10) + (.20 - .05)) / 2
    0.075

    References
    ----------
    Lopez-Paz and Ranzato 2017, "Forward Transfer".
    """
    R = score_matrix(R)
    untrained = score_vector(baseline, "baseline scores of an untrained model")
    if len(untrained) != len(R):
        raise ValueError(
            f"expected one baseline score for each of the {len(R)} periods, got "
            f"{len(untrained)}; test the untrained model on every period, in the order of R"
        )
    return mean(np.diagonal(R, offset=1) - untrained[1:])


def chaudhry_forgetting(R: ArrayLike) -> float:
    """Mean drop on a period from the best model before the final one to the final one.

    ``sum_{j<T} (max_{j<=l<T} R[l, j] - R[T, j]) / (T - 1)``

    Lower is better, and below zero means that the final model is the best so far. "Forgetting"
    is not one number. Libraries also compute it from the best model *including* the final one,
    which can never be negative and so hides improvement, and from the model that had just
    learned the period, which is `gem_backward_transfer` with the sign turned. On the matrix
    below those two give 0.100 and 0.025.

    The maximum runs over the models that have learned period j: the paper defines its scores for
    those only.

    Why: It compares with the best that a model once was, not with how it began.

    Known problems: Whoever learned nothing has nothing to forget: read it beside a score.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(chaudhry_forgetting(R), 3)  # ((.90 - .70) + (.80 - .85)) / 2
    0.075

    References
    ----------
    Chaudhry et al. 2018, "Forgetting Measure", at the last period.
    """
    R = score_matrix(R)
    if len(R) == 1:
        return float("nan")
    learned = np.where(np.tri(len(R), dtype=bool), R, -np.inf)
    return mean((learned[:-1].max(axis=0) - R[-1])[:-1])


def diaz_rodriguez_accuracy(R: ArrayLike) -> float:
    """Mean score of every model on every period it has learned: the diagonal and below.

    ``sum_{i>=j} R[i, j] / (N (N + 1) / 2)``

    Why: It counts every model on the way, not the last one alone.

    Known problems: Early periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(diaz_rodriguez_accuracy(R), 3)  # (.80 + .90 + .80 + .70 + .85 + .75) / 6
    0.8

    References
    ----------
    Diaz-Rodriguez et al. 2018, "Accuracy". CLEAR adopts it unchanged.
    """
    return clear.accuracy(R)


def diaz_rodriguez_backward_transfer(R: ArrayLike) -> float:
    """Mean change on a period from just after learning it, over all later models.

    ``sum_{i>j} (R[i, j] - R[j, j]) / (N (N - 1) / 2)``

    Why: It sees a loss that the last model has made good.

    Known problems: Early periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(diaz_rodriguez_backward_transfer(R), 3)  # (.10 - .10 + .05) / 3
    0.017

    References
    ----------
    Diaz-Rodriguez et al. 2018, "Backward Transfer".
    """
    R = score_matrix(R)
    change = R - np.diagonal(R)
    return mean(change[np.tril_indices(len(R), -1)])


def diaz_rodriguez_remembering(R: ArrayLike) -> float:
    """One minus the forgetting part of backward transfer: 1 is a model that forgets nothing.

    ``1 - |min(BWT, 0)|`` with BWT = `diaz_rodriguez_backward_transfer`.

    The 1 fixes the scale: scores must lie between 0 and 1.

    Why: Its authors wanted parts that are all better when they are higher.

    Known problems: A gain is invisible in it.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.70, .80, .10],
    ...      [.60, .80, .75]]
    >>> round(diaz_rodriguez_remembering(R), 3)  # BWT = (-.10 - .20 + .00) / 3 = -.10
    0.9

    References
    ----------
    Diaz-Rodriguez et al. 2018, "Remembering".
    """
    R = score_matrix(R)
    learned = R[np.tril_indices(len(R))]
    # Means of many scores may pass 1 by a rounding error; percentages pass it by far.
    if (learned < -1e-9).any() or (learned > 1 + 1e-9).any():
        raise ValueError(
            f"expected scores between 0 and 1 for remembering, got {np.nanmin(learned):g} to "
            f"{np.nanmax(learned):g}; divide percentages by 100"
        )
    return float(1 - np.abs(np.minimum(diaz_rodriguez_backward_transfer(R), 0)))


def diaz_rodriguez_positive_backward_transfer(R: ArrayLike) -> float:
    """Gain part of backward transfer: how much later learning improved earlier periods.

    ``max(BWT, 0)`` with BWT = `diaz_rodriguez_backward_transfer`.

    Why: It is the other half of `diaz_rodriguez_remembering`.

    Known problems: A loss is invisible in it.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(diaz_rodriguez_positive_backward_transfer(R), 3)  # BWT = (.10 - .10 + .05) / 3
    0.017

    References
    ----------
    Diaz-Rodriguez et al. 2018, "Positive Backward Transfer".
    """
    return float(np.maximum(diaz_rodriguez_backward_transfer(R), 0))


def diaz_rodriguez_forward_transfer(R: ArrayLike) -> float:
    """Mean score of every model on every period it has not learned: above the diagonal.

    ``sum_{i<j} R[i, j] / (N (N - 1) / 2)``

    A score, unlike `gem_forward_transfer`, which subtracts an untrained model.

    Why: It asks for the future without a second, untrained model.

    Known problems: Late periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .30],
    ...      [.90, .80, .20],
    ...      [.70, .85, .75]]
    >>> round(diaz_rodriguez_forward_transfer(R), 3)  # (.10 + .30 + .20) / 3
    0.2

    References
    ----------
    Diaz-Rodriguez et al. 2018, "Forward Transfer". CLEAR adopts it unchanged.
    """
    return clear.forward_transfer(R)
