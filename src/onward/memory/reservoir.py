"""Reservoir sampling: a uniform sample of everything seen, in bounded memory."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Array, Rows, Samples


class Keyed(Store):
    """Abstract: each sample draws a uniform key when it arrives; keys decide which samples stay.

    `_stay` chooses them among the stored samples and, behind them, the arriving ones.
    """

    saved = (*Store.saved, "_keys")

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        self._keys = np.empty(0)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples compete for a place; those that stay keep the order of arrival."""
        samples = Samples.join([self.samples, arrivals(rows, labels)])
        drawn = self._generator.random(len(samples) - len(self.rows))
        keys = np.concatenate([self._keys, drawn])
        stay = np.sort(self._stay(samples, keys))
        self.samples, self._keys = samples[stay], keys[stay]

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        """Return the positions of the samples that stay, in any order."""
        raise NotImplementedError


class Reservoir(Keyed):
    """Keeps `capacity` samples, each of those seen so far with the same probability.

    The samples with the largest keys stay. That is the same distribution as replacing one sample at
    a time (Vitter's algorithm R), for a whole period at once.

    Examples
    --------
    >>> memory = Reservoir(2, seed=0)
    >>> for row in range(100):
    ...     memory.admit(np.array([row]))
    >>> len(memory.rows)
    2
    """

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        return np.argsort(-keys, kind="stable")[: self.capacity]
