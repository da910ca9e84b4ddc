"""A reservoir for each class: three rules for how many samples of a class stay."""

import numpy as np

from onward.memory.reservoir import Keyed
from onward.types import Array, Rows, Samples


class Balanced(Keyed):
    """Keeps `capacity` samples, as evenly over the classes as what was seen allows.

    A sample with many labels counts with the newest of them. Where the memory overflows, the
    largest class loses a random sample. A class's share is a uniform sample of all of that class
    that was seen, so a class that recurs is refreshed; `GreedyBalanced`, the sampler of GDumb,
    refuses samples of full classes instead. Where the capacity does not divide evenly, a random
    order of the classes, drawn from the seed, says which of them keep one more.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020.

    Examples
    --------
    >>> memory = Balanced(4, seed=0)
    >>> memory.admit(np.arange(10), np.zeros(10, int))
    >>> memory.admit(np.arange(10, 12), np.ones(2, int))
    >>> memory.labels.tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        self._seed = seed

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        # The largest keys of a class stay. Shares only ever shrink, so that is a uniform sample of
        # the class. Places go round the classes, one to each in turn, until none is left.
        positions, classes, rank = ranked_by_class(samples, keys)
        return positions[np.lexsort((self._turn(classes), rank))[: self.capacity]]

    def _turn(self, labels: Array) -> Array:
        """Return a random number for the class of each sample, the same in every call."""
        classes, which = np.unique(labels, return_inverse=True)
        # Not [seed, label]: a zero at the end of a seed does not count, and gives the keys again.
        # What has no class, an image without boxes, has -1.
        seeds = ([self._seed, int(label) % 2**32, 1] for label in classes)
        turns = [np.random.default_rng(seed).random() for seed in seeds]
        return np.array(turns)[which]


class Shares(Keyed):
    """Keeps up to ⌊capacity / classes seen⌋ samples of each class: a reservoir per class.

    No class uses what another one leaves empty, so each is refreshed by its own samples alone. Of a
    capacity below the number of classes, some have one sample and others none.

    Parameters
    ----------
    capacity, seed
        As of any `Store`.
    most
        How many samples of a class are kept at most, however large its share is.

    Examples
    --------
    >>> memory = Shares(5, seed=0)
    >>> memory.admit(np.arange(6), np.array([0, 0, 0, 0, 0, 1]))
    >>> memory.labels.tolist()
    [0, 0, 1]
    """

    def __init__(self, capacity: int, seed: int = 0, most: int | None = None) -> None:
        super().__init__(capacity, seed)
        self._most = most

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        positions, classes, rank = ranked_by_class(samples, keys)
        share = max(self.capacity // max(len(np.unique(classes)), 1), 1)
        if self._most is not None:
            share = min(share, self._most)
        return positions[rank < share][: self.capacity]


class Quota(Keyed):
    """Keeps up to ⌈capacity / classes seen⌉ samples of each class, in a random order.

    Where that number falls, the last ones of each class are removed. Rounding up, it may store more
    than its capacity, by less than one sample per class, as in IIRC's released code.

    Examples
    --------
    >>> memory = Quota(4, seed=0)
    >>> memory.admit(np.arange(6), np.array([0, 0, 0, 0, 0, 1]))
    >>> memory.admit(np.arange(6, 9), np.array([2, 2, 2]))
    >>> memory.labels.tolist()
    [0, 0, 1, 2, 2]
    """

    def _stay(self, samples: Samples, keys: Array) -> Rows:
        positions, classes, rank = ranked_by_class(samples, keys)
        return positions[rank < -(-self.capacity // max(len(np.unique(classes)), 1))]


def ranked_by_class(samples: Samples, keys: Array) -> tuple[Rows, Array, Rows]:
    """Return samples class by class, the largest keys first: positions, classes and ranks.

    A sample with many labels counts with the newest of them.
    """
    positions = np.lexsort((-keys, samples.newest))
    classes = samples.newest[positions]
    return positions, classes, np.arange(len(classes)) - np.searchsorted(classes, classes)
