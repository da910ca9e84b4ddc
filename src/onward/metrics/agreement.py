"""How far people agree who were asked the same."""

import math
from collections.abc import Collection

import numpy as np

from onward.table import Array


def krippendorff_alpha(table: Array) -> float:
    r"""Return Krippendorff's α for answers that are names, not quantities.

    .. math:: \alpha = 1 - D_o / D_e

    of the observed disagreement :math:`D_o` of answers about one item, and :math:`D_e` of answers
    put together at random. 1 is agreement, 0 is what chance gives. Who answered does not matter,
    so a row may as well hold an item's answers in any order.

    Krippendorff, Content Analysis, 2004, section 11.3.

    Parameters
    ----------
    table
        (item, annotator): numbers of answers, from 0; -1 where somebody was not asked. An item
        with fewer than two answers tells nothing.

    Returns
    -------
        NaN if nothing can be told: no item has two answers, or all answers are the same.

    Examples
    --------
    >>> round(krippendorff_alpha([[0, 0, 0], [1, 1, 1], [0, 1, -1]]), 4)
    0.5625
    """
    answers = np.asarray(table, np.int64)
    answers = answers[(answers >= 0).sum(1) > 1]
    rows, _ = np.nonzero(answers >= 0)
    names, code = np.unique(answers[answers >= 0], return_inverse=True)
    # How often each item was given each answer, where it was given at all.
    pair, times = np.unique(rows * len(names) + code, return_counts=True)
    asked = np.bincount(rows)
    alike = float((times * (times - 1) / (asked[pair // max(len(names), 1)] - 1)).sum())
    return alpha_of_counts(alike, np.bincount(code).tolist())


def alpha_of_counts(alike: float, given: Collection[int]) -> float:
    r"""Return Krippendorff's α from what was counted.

    .. math:: \alpha = 1 - (n - 1) (n - a) / (n^2 - \sum_c n_c^2)

    Parameters
    ----------
    alike
        :math:`a = \sum_u \sum_c k (k - 1) / (m - 1)` over items with m answers, two or more, k of
        which are c.
    given
        How often each answer was given about these items: :math:`n_c`, n in all.
    """
    whole = sum(given)
    by_chance = whole * whole - sum(count * count for count in given)
    # One answer only: there is nothing that agreement could be told from.
    return 1 - (whole - 1) * (whole - alike) / by_chance if by_chance else math.nan
