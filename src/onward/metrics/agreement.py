"""How far people agree who were asked the same."""

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
    if not len(rows):
        return float("nan")
    names, code = np.unique(answers[answers >= 0], return_inverse=True)
    # How often each item was given each answer, where it was given at all.
    pair, times = np.unique(rows * len(names) + code, return_counts=True)
    asked = np.bincount(rows)
    alike = float((times * (times - 1) / (asked[pair // len(names)] - 1)).sum())
    given = np.bincount(code).astype(float)
    whole = given.sum()
    expected = 1 - (given * (given - 1)).sum() / (whole * (whole - 1))
    if not expected:
        return float("nan")
    return float(1 - (1 - alike / whole) / expected)
