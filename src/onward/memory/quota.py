"""As many samples of each class as a total allows."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.keyed import Keyed, ranked_by_class


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
        samples, keys = self._with(rows, labels)
        by_class, grouped, rank = ranked_by_class(samples, keys)
        share = -(-self.capacity // max(len(np.unique(grouped)), 1))
        self._keep(samples, keys, by_class[rank < share])
