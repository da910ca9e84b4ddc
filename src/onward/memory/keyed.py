"""What memories share that draw one key per sample and keep those of the largest keys."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Array, Rows, Samples


class Keyed(Store):
    """Abstract: samples by row, label and key; the generator draws the keys."""

    saved = (*Store.saved, "_keys")

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        self._keys = np.empty(0)

    def _with(self, rows: ArrayLike, labels: ArrayLike | None) -> tuple[Samples, Array]:
        """Return all samples, those kept before the arriving ones, and their keys."""
        both = Samples.join([self.samples, arrivals(rows, labels)])
        drawn = self._generator.random(len(both) - len(self.rows))
        return both, np.concatenate([self._keys, drawn])

    def _keep(self, samples: Samples, keys: Array, stay: Rows) -> None:
        """Keep the samples at these positions, in the order in which they came."""
        stay = np.sort(stay)
        self.samples, self._keys = samples[stay], keys[stay]


def ranked_by_class(samples: Samples, keys: Array) -> tuple[Rows, Array, Rows]:
    """Return samples class by class, the largest keys first: their places, classes and ranks.

    A sample with many labels counts with the newest of them.
    """
    classes = samples.newest
    by_class = np.lexsort((-keys, classes))
    grouped = classes[by_class]
    return by_class, grouped, np.arange(len(grouped)) - np.searchsorted(grouped, grouped)
