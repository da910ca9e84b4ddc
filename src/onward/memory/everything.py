"""The memory without a limit."""

from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Samples


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
        """Take these samples in."""
        self.samples = Samples.join([self.samples, arrivals(rows, labels)])
