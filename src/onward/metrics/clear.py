"""CLEAR's metrics: plain means over parts of the score matrix, never differences.

``R[i, j]`` is the score on period j of the model that has learned up to period i. Each metric
averages one part of R:

=====================  ======================  =============================================
metric                 cells                   question
=====================  ======================  =============================================
``in_domain``          the diagonal, j = i     how good on the period just learned?
``next_domain``        superdiagonal, j = i+1  how good on the period right after?
``accuracy``           i >= j                  how good on everything learned so far?
``backward_transfer``  i > j                   how good on the past?
``forward_transfer``   i < j                   how good on the whole future?
=====================  ======================  =============================================

``backward_transfer`` and ``forward_transfer`` here are *scores*, not changes of score: 0.9 is
good, and below zero is impossible for an accuracy. The differences that other papers call by the
same words are in `onward.metrics.literature`.

**Empty cells.** NaN marks a cell that the protocol leaves empty and is never counted as zero. If
any cell a metric needs is NaN, or if it needs no cell at all (``next_domain`` of one period), the
metric is NaN: a mean over the cells that happen to be filled would be another metric under the
same name. The streaming protocol fills only i < j, so there ``next_domain`` and
``forward_transfer`` are numbers and the rest NaN. Slice a run in progress to ``R[:t, :t]``.

References
----------
Lin, Shi, Pathak, Ramanan. "The CLEAR Benchmark: Continual LEArning on Real-World Imagery."
NeurIPS Datasets and Benchmarks, 2021; supplement, section 3.
"""

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics.inputs import mean, score_matrix


def in_domain(R: ArrayLike) -> float:
    """Mean score on the period just learned: the diagonal.

    ``sum_i R[i, i] / N``

    Why: It is how good a model is today, the height from which everything falls.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(in_domain(R), 3)  # (.80 + .80 + .75) / 3
    0.783

    References
    ----------
    CLEAR supplement, Eq. 4.
    """
    return mean(np.diagonal(score_matrix(R)))


def next_domain(R: ArrayLike) -> float:
    """Mean score on the period right after the last one learned: the superdiagonal.

    ``sum_{i<N} R[i, i+1] / (N - 1)``

    Why: It is what counts for whoever trains a model today and uses it tomorrow.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .20],
    ...      [.70, .85, .75]]
    >>> round(next_domain(R), 3)  # (.10 + .20) / 2
    0.15

    References
    ----------
    CLEAR supplement, Eq. 5.
    """
    return mean(np.diagonal(score_matrix(R), offset=1))


def accuracy(R: ArrayLike) -> float:
    """Mean score on every period learned so far: the diagonal and below.

    ``sum_{i>=j} R[i, j] / (N (N + 1) / 2)``

    Why: It asks for all that was learned so far, as most of the literature does.

    Known problems: Early periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(accuracy(R), 3)  # (.80 + .90 + .80 + .70 + .85 + .75) / 6
    0.8

    References
    ----------
    CLEAR supplement, Eq. 1.
    """
    R = score_matrix(R)
    return mean(R[np.tril_indices(len(R))])


def backward_transfer(R: ArrayLike) -> float:
    """Mean score on periods before the last one learned: below the diagonal.

    ``sum_{i>j} R[i, j] / (N (N - 1) / 2)``

    A score, not a change: see `onward.metrics.literature.gem_backward_transfer` for the change.

    Why: It asks what is left of the past.

    Known problems: Early periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(backward_transfer(R), 3)  # (.90 + .70 + .85) / 3
    0.817

    References
    ----------
    CLEAR supplement, Eq. 2.
    """
    R = score_matrix(R)
    return mean(R[np.tril_indices(len(R), -1)])


def forward_transfer(R: ArrayLike) -> float:
    """Mean score on all periods not yet learned: above the diagonal.

    ``sum_{i<j} R[i, j] / (N (N - 1) / 2)``

    A score, not a change: see `onward.metrics.literature.gem_forward_transfer` for the change.

    Why: It asks how long a model stays right once it is left alone.

    Known problems: Late periods are tested more often, and weigh more.

    Examples
    --------
    >>> R = [[.80, .10, .30],
    ...      [.90, .80, .20],
    ...      [.70, .85, .75]]
    >>> round(forward_transfer(R), 3)  # (.10 + .30 + .20) / 3
    0.2

    References
    ----------
    CLEAR supplement, Eq. 3.
    """
    R = score_matrix(R)
    return mean(R[np.triu_indices(len(R), 1)])


def challenge_score(R: ArrayLike) -> float:
    """Plain mean of the four metrics that ranked the CLEAR challenge.

    ``(in_domain + next_domain + backward_transfer + forward_transfer) / 4``

    NaN under the streaming protocol, which has no in-domain and no backward cells.

    Why: It ranked a challenge that wanted past, present and future in one number.

    Known problems: Two methods with one score may be good at opposite things.

    Examples
    --------
    >>> R = [[.80, .10, .10],
    ...      [.90, .80, .10],
    ...      [.70, .85, .75]]
    >>> round(challenge_score(R), 3)  # (.783 + .100 + .817 + .100) / 4
    0.45

    References
    ----------
    CLEAR challenge at CVPR 2022, ranking rule of the AIcrowd starter kit.
    """
    R = score_matrix(R)
    parts = [in_domain(R), next_domain(R), backward_transfer(R), forward_transfer(R)]
    return mean(np.array(parts))
