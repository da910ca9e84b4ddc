"""Which images become candidates: the best of one concept only, and the lowest of all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onward.table import Rows


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen for each concept.

    Parameters
    ----------
    rows
        The chosen rows of each concept, best first.
    removed
        By row: which concepts it was among the best of.
    ran_out
        Whether a ranking ended before there were enough.
    """

    rows: list[Rows]
    removed: dict[int, tuple[int, ...]]
    ran_out: bool


def of_one_concept_only(ranked: Sequence[Rows], wanted: int) -> Chosen:
    """Choose the best rows of each concept, without those among the best of several.

    Such a row is removed from all of them, and the next best take its place, until no row is among
    the best of two concepts. What is removed stays removed.

    Examples
    --------
    >>> found = of_one_concept_only([np.array([1, 2, 3, 4]), np.array([5, 2, 3, 6])], 2)
    >>> [rows.tolist() for rows in found.rows], found.removed
    ([[1, 4], [5, 6]], {2: (0, 1), 3: (0, 1)})
    """
    removed: dict[int, tuple[int, ...]] = {}
    left, ran_out = list(ranked), False
    while True:
        chosen = [rows[:wanted] for rows in left]
        ran_out |= any(len(rows) < wanted for rows in chosen)
        names, counts = np.unique(np.concatenate(chosen), return_counts=True)
        shared = names[counts > 1]
        if not len(shared):
            return Chosen(chosen, removed, ran_out)
        owners = [np.isin(shared, rows) for rows in chosen]
        for at, row in enumerate(shared.tolist()):
            removed[row] = tuple(concept for concept, own in enumerate(owners) if own[at])
        left = [rows[~np.isin(rows, shared)] for rows in left]


def as_many_as_possible(ranked: Sequence[Rows], wanted: int) -> tuple[int, Chosen]:
    """Choose as `of_one_concept_only` does, fewer if that would use a ranking up.

    In a small bucket the next best of one concept is soon among the best of another, and both go,
    until nothing is left. So this is the largest number at which no ranking runs out.

    Examples
    --------
    >>> ranked = [np.array([1, 2, 3, 4]), np.array([4, 2, 3, 1])]
    >>> [len(rows) for rows in of_one_concept_only(ranked, 2).rows]
    [0, 0]
    >>> most, found = as_many_as_possible(ranked, 2)
    >>> most, [rows.tolist() for rows in found.rows]
    (1, [[1], [4]])
    """
    found = of_one_concept_only(ranked, wanted)
    if not found.ran_out:
        return wanted, found
    enough, too_many = 0, wanted
    while too_many - enough > 1:
        middle = (enough + too_many) // 2
        if of_one_concept_only(ranked, middle).ran_out:
            too_many = middle
        else:
            enough = middle
    return enough, of_one_concept_only(ranked, enough)


def lowest(ranked: Sequence[Rows], wanted: int, taken: Rows) -> Chosen:
    """Choose the first rows of each ranking that nobody has taken, one ranking after the other.

    Examples
    --------
    >>> found = lowest([np.array([1, 2, 3]), np.array([1, 2, 3, 4])], 1, np.array([1]))
    >>> [rows.tolist() for rows in found.rows]
    [[2], [3]]
    """
    chosen: list[Rows] = []
    for rows in ranked:
        chosen.append(rows[~np.isin(rows, taken)][:wanted])
        taken = np.concatenate([taken, chosen[-1]])
    return Chosen(chosen, {}, any(len(rows) < wanted for rows in chosen))
