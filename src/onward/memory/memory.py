"""What a method needs of a memory, and what memories share."""

import sys
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.saved import Saved
from onward.types import Array, Rows, Samples


class Memory(Protocol):
    """Old samples by row, with the label that each had when it was kept."""

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
    """Abstract: samples by row and label, and the generator that draws who stays.

    Parameters
    ----------
    capacity
        How many samples it holds at most; by default any number.
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
        """What is kept."""
        return Samples(self.rows, self.labels)

    @samples.setter
    def samples(self, kept: Samples) -> None:
        self.rows, self.labels = kept.rows, kept.labels


def arrivals(rows: ArrayLike, labels: ArrayLike | None) -> Samples:
    """Return arriving samples as arrays, whatever sequence they came in.

    Without labels, all samples count as one class.
    """
    places = np.asarray(rows, np.int64)
    named = np.zeros(len(places), np.int64) if labels is None else np.asarray(labels)
    if len(named) != len(places):
        raise OnwardError(
            f"expected a label for each of {len(places)} samples, found {len(named)} labels"
        )
    return Samples(places, named)
