"""What memories share that draw one key per sample and keep those of the largest keys."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import arrivals, at_least_one
from onward.types import Array, Rows, Samples


class Keyed:
    """Abstract: samples by row, label and key, and the generator that draws the keys.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    seed
        Draws the keys.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        self.capacity = at_least_one(capacity)
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._keys = np.empty(0)
        self._rng = np.random.default_rng(seed)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""
        return {
            "rows": self.rows,
            "labels": self.labels,
            "keys": self._keys,
            "generator": self._rng.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.rows, self.labels, self._keys = state["rows"], state["labels"], state["keys"]
        self._rng.bit_generator.state = state["generator"]

    def _with(self, rows: ArrayLike, labels: ArrayLike | None) -> tuple[Samples, Array]:
        """Return all samples, those kept before the arriving ones, and their keys."""
        both = Samples.join([Samples(self.rows, self.labels), Samples(*arrivals(rows, labels))])
        drawn = self._rng.random(len(both) - len(self.rows))
        return both, np.concatenate([self._keys, drawn])

    def _keep(self, samples: Samples, keys: Array, stay: Rows) -> None:
        """Keep the samples at these positions, in the order in which they came."""
        stay = np.sort(stay)
        kept = samples[stay]
        self.rows, self.labels, self._keys = kept.rows, kept.labels, keys[stay]


def ranked_by_class(samples: Samples, keys: Array) -> tuple[Rows, Array, Rows]:
    """Return samples class by class, the largest keys first: their places, classes and ranks.

    A sample with many labels counts with the newest of them.
    """
    classes = samples.newest
    by_class = np.lexsort((-keys, classes))
    grouped = classes[by_class]
    return by_class, grouped, np.arange(len(grouped)) - np.searchsorted(grouped, grouped)
