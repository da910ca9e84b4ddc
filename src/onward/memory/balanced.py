"""A class-balanced memory: every class seen so far has the same share."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.keyed import Keyed, ranked_by_class
from onward.types import Array


class Balanced(Keyed):
    """Keeps `capacity` samples, as evenly over the classes as what was seen allows.

    A sample with many labels counts with the newest of them. Where the memory overflows, the
    largest class loses a random sample. A class's share is a uniform sample of all of that class
    that was seen, so a class that recurs is refreshed; `GreedyBalanced`, the sampler of GDumb,
    refuses samples of full classes instead. Where the capacity does not divide evenly, a random
    order of the classes, drawn from the seed, says which of them keep one more.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    seed
        Draws who stays.

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

    def admit(self, rows: ArrayLike, labels: ArrayLike) -> None:
        """Let these samples compete for a place, each with those of its class."""
        # A sample draws one key when it arrives, and the largest keys of a class stay. Shares only
        # ever shrink, so that is a uniform sample of the class.
        samples, keys = self._with(rows, labels)
        by_class, grouped, rank = ranked_by_class(samples, keys)
        # Places go round the classes, one to each in turn, until none is left.
        turns = np.lexsort((self._turn(grouped), rank))
        self._keep(samples, keys, by_class[turns[: self.capacity]])

    def _turn(self, labels: Array) -> Array:
        """Return a random number for the class of each sample, the same whenever it is asked."""
        classes, which = np.unique(labels, return_inverse=True)
        # Not [seed, label]: a zero at the end of a seed does not count, and gives the keys again.
        # What has no class, an image without boxes, has -1.
        seeds = ([self._seed, int(label) % 2**32, 1] for label in classes)
        turns = [np.random.default_rng(seed).random() for seed in seeds]
        return np.array(turns)[which]
