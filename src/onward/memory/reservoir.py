"""Reservoir sampling: a uniform sample of everything seen, in bounded memory."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.keyed import Keyed


class Reservoir(Keyed):
    """Keeps `capacity` samples, each of those seen so far with the same probability.

    Every sample draws one uniform key when it arrives, and the largest keys stay. That is the
    same distribution as replacing one sample at a time (Vitter's algorithm R), for a whole
    period at once.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    seed
        Draws the keys.

    Examples
    --------
    >>> memory = Reservoir(2, seed=0)
    >>> for row in range(100):
    ...     memory.admit(np.array([row]))
    >>> len(memory.rows)
    2
    """

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples compete for a place."""
        samples, keys = self._with(rows, labels)
        self._keep(samples, keys, np.argsort(-keys, kind="stable")[: self.capacity])
