"""As many samples of each class as a total allows."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.keyed import Keyed
from onward.memory.memory import arrivals
from onward.types import Samples


class Quota(Keyed):
    """Keeps up to ⌈capacity / classes seen⌉ samples of each class, in a random order.

    Where that number falls, the last ones of each class are let go. Rounding up, it may hold more
    than its capacity, by less than one sample per class, as in IIRC's released code.

    Parameters
    ----------
    capacity
        How many samples all classes share.
    seed
        Draws the order.

    Examples
    --------
    >>> memory = Quota(4, seed=0)
    >>> memory.admit(np.arange(6), np.array([0, 0, 0, 0, 0, 1]))
    >>> memory.admit(np.arange(6, 9), np.array([2, 2, 2]))
    >>> memory.labels.tolist()
    [0, 0, 1, 2, 2]
    """

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Take these samples in, and let go of what is beyond each class's share."""
        rows, labels = arrivals(rows, labels)
        keys = np.concatenate([self._keys, self._rng.random(len(rows))])
        rows = np.concatenate([self.rows, rows])
        labels = np.concatenate([self.labels, labels]) if len(self.rows) else labels
        classes = Samples(rows, labels).newest
        by_class = np.lexsort((-keys, classes))
        grouped = classes[by_class]
        rank = np.arange(len(grouped)) - np.searchsorted(grouped, grouped)
        share = -(-self.capacity // max(len(np.unique(classes)), 1))
        self._keep(rows, labels, keys, by_class[rank < share])
