"""Images with the most boxes of rare classes."""

from collections.abc import Sequence

import numpy as np

from onward.errors import OnwardError
from onward.memory.reservoir import Keyed
from onward.types import Array, Rows, Samples


class Rarest(Keyed):
    """Of the images of each call of `admit`, keeps those with the most boxes of some classes.

    All calls so far share the capacity evenly. Among images with equally many such boxes, chance
    decides.

    Parameters
    ----------
    capacity, seed
        As of any `Store`.
    classes
        Which classes count, by their numbers.

    Examples
    --------
    >>> memory = Rarest(2, classes=(1,))
    >>> one, two, none = ([[1, 0, 0, 2, 2, 0]] * n + [[-1] * 6] * (2 - n) for n in (1, 2, 0))
    >>> memory.admit([0, 1, 2], [one, two, none])
    >>> memory.rows.tolist()
    [0, 1]
    >>> memory.admit([3, 4], [none, one])
    >>> memory.rows.tolist()
    [1, 4]
    """

    saved = (*Keyed.saved, "_calls", "_called")

    def __init__(self, capacity: int, seed: int = 0, *, classes: Sequence[int]) -> None:
        super().__init__(capacity, seed)
        self._classes = tuple(classes)
        # The call in which each stored image came, and how many there were.
        self._calls: Array = np.empty(0, np.int64)
        self._called = 0

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        if samples.labels.ndim != 3:
            raise OnwardError(
                f"expected boxes as labels, (images, boxes, 6), found the shape "
                f"{samples.labels.shape}"
            )
        counts = np.isin(samples.labels[len(self.rows) :, :, 0], self._classes).sum(1)
        # Keys are between 0 and 1, so they decide among equal counts alone.
        keys[len(self.rows) :] += counts
        calls = np.concatenate([self._calls, np.full(len(counts), self._called)])
        self._called += 1
        order = np.lexsort((-keys, calls))
        rank = np.arange(len(order)) - np.searchsorted(calls[order], calls[order])
        # What does not divide evenly goes to the first calls.
        share, more = divmod(self.capacity, self._called)
        stay = np.sort(order[rank < share + (calls[order] < more)])
        self._calls = calls[stay]
        return stay
