"""What a method needs of a memory, what memories share, and the memory without a limit."""

import sys
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.saved import Saved
from onward.types import Array, Rows, Samples


class Memory(Protocol):
    """Old samples by row, with the label that each had when it was stored."""

    capacity: int
    rows: Rows
    labels: Array

    def admit(self, rows: Rows, labels: Array) -> None:
        """Let these samples compete for a place."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""


class Store(Saved):
    """Abstract: samples by row and label, and the generator that draws which of them stay.

    Parameters
    ----------
    capacity
        How many samples it stores at most; by default any number.
    seed
        Of the generator.
    """

    saved: ClassVar[tuple[str, ...]] = ("rows", "labels", "_generator")

    def __init__(self, capacity: int = sys.maxsize, seed: int = 0) -> None:
        if not isinstance(capacity, int | np.integer) or capacity < 1:
            raise OnwardError(f"a memory needs a whole capacity of at least 1, found {capacity!r}")
        self.capacity = capacity
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._generator = np.random.default_rng(seed)

    @property
    def samples(self) -> Samples:
        """The stored samples."""
        return Samples(self.rows, self.labels)

    @samples.setter
    def samples(self, stored: Samples) -> None:
        self.rows, self.labels = stored.rows, stored.labels


class Everything(Store):
    """Keeps every sample it is given, whatever its capacity, as memories have one.

    Examples
    --------
    >>> memory = Everything()
    >>> memory.admit([3, 1], [0, 1])
    >>> memory.admit([7], [1])
    >>> memory.rows.tolist(), memory.labels.tolist()
    ([3, 1, 7], [0, 1, 1])
    """

    saved = ("rows", "labels")

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Store these samples."""
        self.samples = Samples.join([self.samples, arrivals(rows, labels)])


def arrivals(rows: ArrayLike, labels: ArrayLike | None) -> Samples:
    """Return arriving samples as arrays, whatever sequence they came in.

    Without labels, all samples count as one class.
    """
    found = np.asarray(rows, np.int64)
    named = np.zeros(len(found), np.int64) if labels is None else np.asarray(labels)
    if len(named) != len(found):
        raise OnwardError(
            f"expected a label for each of {len(found)} samples, found {len(named)} labels"
        )
    return Samples(found, named)
