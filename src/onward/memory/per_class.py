"""A fixed number of samples of every class, chosen at random or by herding."""

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import Store, arrivals
from onward.types import Array, Rows, Samples


class PerClass(Store):
    """Keeps `capacity` samples of each class, chosen once, when the class is met.

    A sample with many labels counts with the newest of them. A class that has its number is full;
    one that came with fewer samples takes more of them later. It grows with the classes.

    Parameters
    ----------
    capacity
        How many samples of each class it stores at most.
    seed
        Of the generator that draws them, where no features are given to choose by.

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
        classes, known, chosen = arriving.newest, self.newest, [np.empty(0, np.int64)]
        for label in np.unique(classes).tolist():
            here = np.flatnonzero(classes == label)
            room = self.capacity - int(np.count_nonzero(known == label))
            if features is None:
                picked = self._generator.permutation(len(here))[:room]
            else:
                picked = herd(features[here], room)
            chosen.append(here[picked])
        self.samples = Samples.join([self.samples, arriving[np.concatenate(chosen)]])

    def shrink(self, capacity: int) -> None:
        """Keep no more than so many of each class from now on; those chosen last are removed."""
        if capacity >= self.capacity:
            return
        self.capacity, newest = capacity, self.newest
        stay = [np.flatnonzero(newest == label)[:capacity] for label in np.unique(newest)]
        self.samples = self.samples[np.sort(np.concatenate([np.empty(0, np.int64), *stay]))]


def herd(features: Array, count: int) -> Rows:
    """Choose samples one by one, each such that the mean of those chosen comes closest to all's.

    Parameters
    ----------
    features
        One row per sample, of any length: directions are compared.
    count
        How many to choose, or all of them where there are fewer.

    References
    ----------
    Rebuffi, Kolesnikov, Sperl and Lampert, iCaRL: Incremental Classifier and Representation
    Learning, CVPR 2017, algorithm 4.

    Examples
    --------
    >>> herd(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 2).tolist()
    [1, 0]
    """
    length = np.linalg.norm(features, axis=1, keepdims=True)
    units = features / np.where(length > 0, length, 1)
    mean, chosen_sum = units.mean(0) if len(units) else 0, np.zeros(units.shape[1])
    chosen: list[int] = []
    for number in range(min(count, len(units))):
        distances = np.linalg.norm(mean - (chosen_sum + units) / (number + 1), axis=1)
        distances[chosen] = np.inf
        chosen.append(int(distances.argmin()))
        chosen_sum += units[chosen[-1]]
    return np.array(chosen, np.int64)
