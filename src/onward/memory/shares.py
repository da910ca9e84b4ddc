"""An equal share of a total for every class, each a uniform sample of its class."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.keyed import Keyed, ranked_by_class


class Shares(Keyed):
    """Keeps up to ⌊capacity / classes seen⌋ samples of each class: a reservoir per class.

    No class uses what another one leaves empty, so each is refreshed by its own samples alone. Of a
    capacity below the number of classes, some have one sample and others none.

    Parameters
    ----------
    capacity
        How many samples all classes share.
    seed
        Draws who stays.
    most
        How many samples of a class are kept at most, however large its share is.

    Examples
    --------
    >>> memory = Shares(5, seed=0)
    >>> memory.admit(np.arange(6), np.array([0, 0, 0, 0, 0, 1]))
    >>> memory.labels.tolist()
    [0, 0, 1]
    """

    def __init__(self, capacity: int, seed: int = 0, most: int | None = None) -> None:
        super().__init__(capacity, seed)
        self._most = most

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples compete for a place, each with those of its class."""
        samples, keys = self._with(rows, labels)
        by_class, grouped, rank = ranked_by_class(samples, keys)
        share = max(self.capacity // max(len(np.unique(grouped)), 1), 1)
        if self._most is not None:
            share = min(share, self._most)
        self._keep(samples, keys, by_class[rank < share][: self.capacity])
