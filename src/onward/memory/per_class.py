"""A fixed number of samples of every class."""

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.herding import herd
from onward.memory.memory import Store, arrivals
from onward.types import Array, Samples


class PerClass(Store):
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

    saved = ("capacity", *Store.saved)

    def __init__(self, capacity: int, seed: int = 0) -> None:
        if capacity < 1:
            raise OnwardError(f"expected to keep 1 or more samples of a class, found {capacity}")
        super().__init__(capacity, seed)

    @property
    def newest(self) -> Array:
        """The class that each sample is kept for."""
        return self.samples.newest

    def admit(
        self, rows: ArrayLike, labels: ArrayLike | None = None, features: Array | None = None
    ) -> None:
        """Choose samples for the classes that have room: by herding where there are features."""
        arriving = arrivals(rows, labels)
        classes, known, chosen = arriving.newest, self.newest, []
        for label in np.unique(classes).tolist():
            here = np.flatnonzero(classes == label)
            room = self.capacity - int(np.count_nonzero(known == label))
            if features is None:
                picked = self._generator.permutation(len(here))[:room]
            else:
                picked = herd(features[here], room)
            chosen.append(here[picked])
        places = np.concatenate([np.empty(0, np.int64), *chosen])
        self.samples = Samples.join([self.samples, arriving[places]])

    def shrink(self, capacity: int) -> None:
        """Keep no more than so many of each class from now on: those go that were chosen last."""
        if capacity >= self.capacity:
            return
        self.capacity, newest = capacity, self.newest
        stay = [np.flatnonzero(newest == label)[:capacity] for label in np.unique(newest)]
        places = np.sort(np.concatenate([np.empty(0, np.int64), *stay]))
        self.samples = self.samples[places]
