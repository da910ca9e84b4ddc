"""Test images that are decoded once, though their test set is predicted after every period."""

from pathlib import Path
from weakref import WeakKeyDictionary

import torch

from onward.types import Column, Rows

CAPACITY = 2**30
"""The most bytes that all columns of a process may keep."""
# The largest share of the memory that is still available: processes of a sweep share it.
_SHARE = 1 / 8


class DecodeCache:
    """Decoded inputs by column and row, in the form that models take.

    What came first stays: test sets come round in the same order, so a cache that is smaller than
    all of them would find nothing if it replaced its oldest rows. A column's rows are freed
    together with the column.

    Parameters
    ----------
    capacity
        The most bytes to keep.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._columns: WeakKeyDictionary[Column, dict[int, torch.Tensor]] = WeakKeyDictionary()

    def has(self, column: Column, rows: Rows) -> bool:
        """Whether all of these rows are there."""
        kept = self._columns.get(column)
        return kept is not None and all(row in kept for row in rows.tolist())

    def get(self, column: Column, rows: Rows) -> torch.Tensor:
        """Return the inputs of these rows, all of which are there, as a new tensor on the CPU."""
        kept = self._columns[column]
        return torch.stack([kept[row] for row in rows.tolist()])

    def put(self, column: Column, rows: Rows, inputs: torch.Tensor) -> None:
        """Keep copies of the inputs of these rows, as long as there is room."""
        kept = self._columns.setdefault(column, {})
        new = {row: place for place, row in enumerate(rows.tolist()) if row not in kept}
        if not new:
            return
        size = len(new) * inputs[0].nbytes
        if self.size + size > min(self._capacity, _SHARE * _available_memory()):
            return
        # A copy: batches of workers lie in shared memory, which is scarce.
        copied = inputs.cpu().index_select(0, torch.tensor([*new.values()]))
        kept.update(zip(new, copied, strict=True))

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(
            len(kept) * next(iter(kept.values())).nbytes for kept in self._columns.values() if kept
        )


def _available_memory() -> float:
    """Return how many bytes the system can still give, where it says so."""
    try:
        facts = Path("/proc/meminfo").read_text()
    except OSError:
        return float("inf")
    for line in facts.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return float("inf")
