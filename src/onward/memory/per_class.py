"""A fixed number of samples of every class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.herding import herd
from onward.memory.memory import arrivals
from onward.types import Array, Rows, Samples


class PerClass:
    """Keeps `capacity` samples of each class, chosen once, when the class is met.

    A sample with many labels counts with the newest of them. A class that has its number is full;
    one that came with fewer samples takes more of them later. It grows with the classes.

    Parameters
    ----------
    capacity
        How many samples of each class it holds at most.
    seed
        Draws them, where no features are given to choose by.

    Examples
    --------
    >>> memory = PerClass(2, seed=0)
    >>> memory.admit(np.arange(5), np.array([0, 0, 0, 0, 1]))
    >>> memory.admit(np.arange(5, 9), np.array([0, 1, 1, 1]))
    >>> memory.labels.tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        if capacity < 1:
            raise OnwardError(f"expected to keep 1 or more samples of a class, found {capacity}")
        self.capacity = capacity
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._rng = np.random.default_rng(seed)

    @property
    def newest(self) -> Array:
        """The class that each sample is kept for."""
        return Samples(self.rows, self.labels).newest

    def admit(
        self, rows: ArrayLike, labels: ArrayLike | None = None, features: Array | None = None
    ) -> None:
        """Choose samples for the classes that have room: by herding where there are features."""
        rows, labels = arrivals(rows, labels)
        classes, known, chosen = Samples(rows, labels).newest, self.newest, []
        for label in np.unique(classes).tolist():
            here = np.flatnonzero(classes == label)
            room = self.capacity - int(np.count_nonzero(known == label))
            if features is None:
                picked = self._rng.permutation(len(here))[:room]
            else:
                picked = herd(features[here], room)
            chosen.append(here[picked])
        places = np.concatenate([np.empty(0, np.int64), *chosen])
        after = Samples.join([Samples(self.rows, self.labels), Samples(rows, labels)[places]])
        self.rows, self.labels = after.rows, after.labels

    def shrink(self, capacity: int) -> None:
        """Keep no more than so many of each class from now on: those go that were chosen last."""
        if capacity >= self.capacity:
            return
        self.capacity, newest = capacity, self.newest
        stay = [np.flatnonzero(newest == label)[:capacity] for label in np.unique(newest)]
        places = np.sort(np.concatenate([np.empty(0, np.int64), *stay]))
        self.rows, self.labels = self.rows[places], self.labels[places]

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""
        return {
            "capacity": self.capacity,
            "rows": self.rows,
            "labels": self.labels,
            "generator": self._rng.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.capacity = state["capacity"]
        self.rows, self.labels = state["rows"], state["labels"]
        self._rng.bit_generator.state = state["generator"]
