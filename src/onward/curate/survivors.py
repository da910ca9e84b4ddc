"""Who may still be among the best k, while a pool is looked through in pieces.

A first look at a row gives its score up to an error that is known. As soon as k rows are certainly
as good as some score, a row that is certainly worse is forgotten. Those that are left in the end
are looked at again, exactly.
"""

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from onward.table import Array, Rows

Exact = Callable[[Rows, int], Array]
"""Returns the exact scores of rows in a column, as float32 values."""
# How many rows may be waiting beyond those that were left the last time.
_WAITING = 1 << 16


class Offer(NamedTuple):
    """Rows that may be among the best: of which list, which row, its score and the error of that.

    An error of 0 says that the score is exact.
    """

    lists: Rows
    rows: Rows
    scores: Array
    errors: Array


_NONE = Offer(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


class Survivors:
    """One list for each group of rows and each column of scores.

    Parameters
    ----------
    groups
        How many there are; the list of a group and a column is ``group * columns + column``.
    best
        How many rows are wanted in each column.
    exact
        Looks at rows again.
    """

    def __init__(self, groups: int, best: Rows, exact: Exact) -> None:
        self._best, self._exact = best, exact
        # A score that so many rows of a list certainly reach: it only ever rises.
        self.least = np.full((groups, len(best)), -np.inf)
        self._held, self._offers, self._waiting = _NONE, [_NONE], 0
        self._lock = threading.Lock()

    def add(self, offer: Offer) -> None:
        """Take rows in."""
        with self._lock:
            self._offers.append(offer)
            self._waiting += len(offer.rows)
            if self._waiting > _WAITING + len(self._held.rows):
                self._sift(most=2)

    def ranked(self) -> dict[int, tuple[Array, Rows]]:
        """Return scores and rows of each list that has any, best first, ties by row."""
        self._sift(most=0)
        return {one: (held.scores, held.rows) for one, held in _apart(self._held)}

    def _sift(self, most: int) -> None:
        """Forget who is certainly too bad.

        Where more than `most` times as many as wanted are left, as equal scores may do, or without
        condition if it is 0, the rows are looked at again.
        """
        everyone = _joined([self._held, *self._offers])
        kept = []
        for one, held in _apart(everyone):
            group, column = divmod(one, len(self._best))
            wanted = int(self._best[column])
            if len(held.rows) > wanted:
                held = self._without_the_bad(held, group, column, wanted)
            if not most or len(held.rows) > most * wanted + _WAITING // self.least.size:
                held = self._looked_at_again(held, column, wanted)
                if len(held.rows) == wanted:
                    self.least[group, column] = max(self.least[group, column], held.scores[-1])
            kept.append(held)
        self._held, self._offers, self._waiting = _joined([_NONE, *kept]), [], 0

    def _without_the_bad(self, held: Offer, group: int, column: int, wanted: int) -> Offer:
        certain = held.scores - held.errors
        reached = np.partition(certain, len(certain) - wanted)[len(certain) - wanted]
        least = max(self.least[group, column], reached)
        self.least[group, column] = least
        return _chosen(held, np.flatnonzero(held.scores + held.errors >= least))

    def _looked_at_again(self, held: Offer, column: int, wanted: int) -> Offer:
        scores = held.scores.copy()
        open_ = np.flatnonzero(held.errors)
        scores[open_] = self._exact(held.rows[open_], column)
        order = np.lexsort((held.rows, -scores))[:wanted]
        return Offer(held.lists[order], held.rows[order], scores[order], np.zeros(len(order)))


def _joined(offers: list[Offer]) -> Offer:
    return Offer(*(np.concatenate(parts) for parts in zip(*offers, strict=True)))


def _chosen(offer: Offer, places: Rows) -> Offer:
    return Offer(*(values[places] for values in offer))


def _apart(offer: Offer) -> Iterator[tuple[int, Offer]]:
    """Yield each list that has rows."""
    order = np.argsort(offer.lists, kind="stable")
    names, firsts = np.unique(offer.lists[order], return_index=True)
    for name, places in zip(names.tolist(), np.split(order, firsts[1:]), strict=True):
        yield name, _chosen(offer, places)
