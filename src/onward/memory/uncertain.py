"""A memory that is halved when it is full: the samples that a model is most certain of go."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Array, Rows, Samples


class Uncertain(Store):
    """Keeps samples with what a model said of them, until there is no room for more.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    seed
        Not used: nothing is drawn.

    References
    ----------
    Bang, Kim, Yoo, Ha and Choi, Rainbow Memory: Continual Learning with a Memory of Diverse
    Samples, CVPR 2021, whose memory has samples of every degree of certainty; as in CLAD's C3,
    which removes the most certain half.

    Examples
    --------
    >>> memory = Uncertain(3)
    >>> memory.admit(np.arange(3), np.zeros(3, int), said=np.zeros((3, 2)))
    >>> memory.full(1)
    True
    >>> memory.halve(np.array([0.9, 0.1, 0.5]))
    >>> memory.rows.tolist()
    [1]
    """

    saved = ("rows", "labels", "said")

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        # What was said of each when it came; NaN for classes that were not known then.
        self.said: Array = np.empty((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def said_of(self, rows: Rows) -> Array:
        """Return what was said of these rows: all that are kept, or some of them, each once."""
        if np.array_equal(rows, self.rows):
            return self.said
        order = np.argsort(self.rows, kind="stable")
        return np.asarray(self.said[order[np.searchsorted(self.rows, rows, sorter=order)]])

    def full(self, arriving: int) -> bool:
        """Whether so many more do not fit."""
        return len(self) + arriving > self.capacity

    def halve(self, certainty: Array) -> None:
        """Let the half go that is most certain; of an odd number, the larger one."""
        stay = np.sort(np.argsort(certainty, kind="stable")[: len(self) // 2])
        self.samples, self.said = self.samples[stay], self.said[stay]

    def admit(
        self, rows: ArrayLike, labels: ArrayLike | None = None, said: Array | None = None
    ) -> None:
        """Take samples in, the first ones where not all fit, with what was said of them, if any."""
        samples, room = arrivals(rows, labels), self.capacity - len(self)
        said = np.empty((len(samples), 0)) if said is None else said
        wide = max(self.said.shape[1], said.shape[1])
        self.said = np.concatenate([_widened(self.said, wide), _widened(said[:room], wide)])
        self.samples = Samples.join([self.samples, samples[:room]])


def _widened(said: Array, wide: int) -> Array:
    missing = wide - said.shape[1]
    return np.pad(said.astype(np.float32), ((0, 0), (0, missing)), constant_values=np.nan)
