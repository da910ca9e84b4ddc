"""A memory: which rows are kept, with the labels that they had."""

from typing import Any

import numpy as np

from onward.types import Array, Rows, Samples


class Latest:
    """Keeps the `capacity` samples that came last.

    Examples
    --------
    >>> memory = Latest(2)
    >>> memory.admit(np.arange(3), np.array([0, 1, 0]))
    >>> memory.rows.tolist()
    [1, 2]
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        self.capacity = capacity
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)

    def admit(self, rows: Rows, labels: Array) -> None:
        """Take all of them, and let the oldest go."""
        both = Samples.join([Samples(self.rows, self.labels), Samples(rows, labels)])
        kept = both[-self.capacity :]
        self.rows, self.labels = kept.rows, kept.labels

    def state(self) -> dict[str, Any]:
        """Return what is kept."""
        return {"rows": self.rows, "labels": self.labels}

    def restore(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self.rows, self.labels = state["rows"], state["labels"]
