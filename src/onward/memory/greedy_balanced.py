"""GDumb's greedy sampler: a class-balanced memory that refuses samples of full classes."""

import numpy as np
from numpy.typing import ArrayLike

from onward.memory.memory import Store, arrivals
from onward.types import Array, Samples


class GreedyBalanced(Store):
    """Keeps up to `capacity` samples by GDumb's greedy rule, sample by sample in order of arrival.

    A sample is admitted if its class is new, or if fewer than capacity / classes seen samples of
    its class are stored. If the memory is full, a random sample of the largest class is removed
    for it; of several largest classes, a random one loses a sample. All other samples are refused,
    even if the memory is not full, so a full class keeps its first samples and is not updated by
    later ones. A class shrinks only when another one needs room. A sample with several labels
    counts for its newest one.

    Where the capacity does not divide evenly by the number of classes, the quota is a fraction, as
    in the paper: classes of one sample less than the others still admit samples, in exchange for
    one of a larger class. With fewer places than classes, only samples of classes that have no
    stored sample are admitted.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020, Algorithm 1.

    Examples
    --------
    >>> memory = GreedyBalanced(4, seed=0)
    >>> memory.admit(np.arange(10), np.zeros(10, int))
    >>> memory.rows.tolist()
    [0, 1, 2, 3]
    >>> memory.admit(np.arange(10, 20), np.ones(10, int))
    >>> memory.labels.tolist(), memory.rows[2:].tolist()
    ([0, 0, 1, 1], [10, 11])
    """

    saved = (*Store.saved, "_seen")

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        # All classes seen so far, including those of which no sample is stored any longer.
        self._seen: Array = np.empty(0, np.int64)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Admit or refuse these samples, one after the other."""
        before = len(self.rows)
        samples = Samples.join([self.samples, arrivals(rows, labels)])
        known = np.concatenate([self._seen, samples.newest])
        classes, index = np.unique(known, return_inverse=True)
        index = index[len(self._seen) :].tolist()
        seen = np.isin(classes, self._seen)
        # Positions of the stored samples of each class, in order of arrival.
        stored: list[list[int]] = [[] for _ in classes]
        for position, label in enumerate(index[:before]):
            stored[label].append(position)
        counts = np.array([len(positions) for positions in stored], np.int64)
        classes_seen, size = int(seen.sum()), before
        for position, label in enumerate(index[before:], before):
            if seen[label] and counts[label] * classes_seen >= self.capacity:
                continue
            if size < self.capacity:
                size += 1
            else:
                largest = np.flatnonzero(counts == counts.max())
                loser = largest[self._generator.integers(len(largest))]
                del stored[loser][self._generator.integers(counts[loser])]
                counts[loser] -= 1
            if not seen[label]:
                seen[label] = True
                classes_seen += 1
            stored[label].append(position)
            counts[label] += 1
        stay = sorted(position for positions in stored for position in positions)
        self.samples, self._seen = samples[np.array(stay, np.int64)], classes
