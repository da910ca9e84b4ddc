"""Reservoir sampling: a uniform sample of everything seen, in bounded memory."""

from typing import Any

import numpy as np

from onward.errors import OnwardError
from onward.types import Array, Rows


class Reservoir:
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

    def __init__(self, capacity: int, seed: int = 0) -> None:
        if capacity < 1:
            raise OnwardError(f"a reservoir needs a capacity of at least 1, found {capacity}")
        self.capacity = capacity
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._keys = np.empty(0)
        self._rng = np.random.default_rng(seed)

    def admit(self, rows: Rows, labels: Array | None = None) -> None:
        """Let these samples compete for a place."""
        labels = np.zeros(len(rows), np.int64) if labels is None else labels
        keys = np.concatenate([self._keys, self._rng.random(len(rows))])
        rows = np.concatenate([self.rows, rows])
        labels = np.concatenate([self.labels, labels]) if len(self.rows) else labels
        stay = np.sort(np.argsort(-keys, kind="stable")[: self.capacity])
        self.rows, self.labels, self._keys = rows[stay], labels[stay], keys[stay]

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
