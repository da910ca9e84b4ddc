"""What a method needs of a memory."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.types import Array, Rows


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


def at_least_one(capacity: int) -> int:
    """Return how many samples a memory holds at most, or say what that may be."""
    if capacity < 1:
        raise OnwardError(f"a memory needs a capacity of at least 1, found {capacity}")
    return capacity


def arrivals(rows: ArrayLike, labels: ArrayLike | None) -> tuple[Rows, Array]:
    """Return rows and labels of arriving samples as arrays, whatever sequence they came in.

    Without labels, all samples count as one class.
    """
    places = np.asarray(rows, np.int64)
    named = np.zeros(len(places), np.int64) if labels is None else np.asarray(labels)
    if len(named) != len(places):
        raise OnwardError(
            f"expected a label for each of {len(places)} samples, found {len(named)} labels"
        )
    return places, named
