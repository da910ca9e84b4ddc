"""The memory without a limit."""

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import arrivals
from onward.types import Array, Rows


class Everything:
    """Keeps every sample it is given, whatever its capacity, as memories have one.

    Examples
    --------
    >>> memory = Everything()
    >>> memory.admit(np.array([3, 1]), np.array([0, 1]))
    >>> memory.admit(np.array([7]), np.array([1]))
    >>> memory.rows.tolist(), memory.labels.tolist()
    ([3, 1, 7], [0, 1, 1])
    """

    def __init__(self, capacity: int = sys.maxsize, seed: int = 0) -> None:
        self.capacity = capacity
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Take these samples in."""
        rows, labels = arrivals(rows, labels)
        self.labels = np.concatenate([self.labels, labels]) if len(self.rows) else labels.copy()
        self.rows = np.concatenate([self.rows, rows])

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""
        return {"rows": self.rows, "labels": self.labels}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.rows, self.labels = state["rows"], state["labels"]
