"""A memory that is halved when it is full: the most certain samples are removed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Array, Rows, Samples


class Uncertain(Store):
    """Keeps samples with a model's logits for them, until there is no room for more.

    References
    ----------
    Bang, Kim, Yoo, Ha and Choi, Rainbow Memory: Continual Learning with a Memory of Diverse
    Samples, CVPR 2021, whose memory has samples of every degree of certainty; as in CLAD's C3,
    which removes the most certain half.

    Examples
    --------
    >>> memory = Uncertain(3)
    >>> memory.admit(np.arange(3), np.zeros(3, int), logits=np.zeros((3, 2)))
    >>> memory.full(1)
    True
    >>> memory.halve(np.array([0.9, 0.1, 0.5]))
    >>> memory.rows.tolist()
    [1]
    """

    saved = ("rows", "labels", "logits")

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        # The logits of each when it came; NaN for classes that were not known then.
        self.logits: Array = np.empty((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def logits_of(self, rows: Rows) -> Array:
        """Return the logits of these rows: all that are stored, or some of them, each once."""
        if np.array_equal(rows, self.rows):
            return self.logits
        order = np.argsort(self.rows, kind="stable")
        return np.asarray(self.logits[order[np.searchsorted(self.rows, rows, sorter=order)]])

    def full(self, arriving: int) -> bool:
        """Whether so many more do not fit."""
        return len(self) + arriving > self.capacity

    def halve(self, certainty: Array) -> None:
        """Remove the half that is most certain; of an odd number, the larger one."""
        stay = np.sort(np.argsort(certainty, kind="stable")[: len(self) // 2])
        self.samples, self.logits = self.samples[stay], self.logits[stay]

    def admit(
        self, rows: ArrayLike, labels: ArrayLike | None = None, logits: Array | None = None
    ) -> None:
        """Store samples with their logits, if any; the first ones where not all fit."""
        samples, room = arrivals(rows, labels), self.capacity - len(self)
        logits = np.empty((len(samples), 0)) if logits is None else logits
        width = max(self.logits.shape[1], logits.shape[1])
        parts = [_padded(self.logits, width), _padded(logits[:room], width)]
        self.logits = np.concatenate(parts)
        self.samples = Samples.join([self.samples, samples[:room]])

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state; earlier ones have the logits under another name."""
        super().restore({"logits": state.get("said"), **state})


def _padded(logits: Array, width: int) -> Array:
    missing = ((0, 0), (0, width - logits.shape[1]))
    return np.pad(logits.astype(np.float32), missing, constant_values=np.nan)
