"""What a method needs of a memory."""

from typing import Any, Protocol

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
