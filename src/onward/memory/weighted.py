"""A memory that a sample enters with a probability of its class, whatever came before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import Store, arrivals
from onward.types import Array, Samples


class Weighted(Store):
    """Keeps `capacity` samples; each arriving one enters with the chance that its class has.

    Free places are filled by the first samples. Later ones replace a random sample, so that all
    leave with the same probability, and rare classes with a high chance are stored more often than
    they occur.

    Parameters
    ----------
    capacity, seed
        As of any `Store`.
    chances
        By class, from 0 to 1. By default a class has the chance that would let all classes enter
        equally often: how often the rarest one was seen so far, as a share of how often it was
        itself.

    Examples
    --------
    >>> memory = Weighted(3, seed=0, chances=[1, 0])
    >>> memory.admit(np.arange(3), np.array([0, 1, 1]))
    >>> memory.admit(np.arange(3, 43), np.array([0, 1] * 20))
    >>> memory.labels.tolist()
    [0, 0, 0]
    """

    saved = (*Store.saved, "_seen")

    def __init__(
        self, capacity: int, seed: int = 0, chances: Sequence[float] | None = None
    ) -> None:
        if chances is not None and not (
            isinstance(chances, list | tuple)
            and all(isinstance(chance, int | float) and 0 <= chance <= 1 for chance in chances)
        ):
            raise OnwardError(f"expected a chance from 0 to 1 for each class, found {chances}")
        super().__init__(capacity, seed)
        self._chances = None if chances is None else np.asarray(chances, np.float64)
        self._seen: Array = np.zeros(0, np.int64)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples enter, one after the other."""
        arriving = arrivals(rows, labels)
        chances = self._chances_of(arriving.newest)
        room = self.capacity - len(self.rows)
        enters = self._generator.random(len(arriving)) < chances
        enters[:room] = True
        entering = arriving[np.flatnonzero(enters)]
        self.samples = Samples.join([self.samples, entering[:room]])
        for at in range(room, len(entering)):
            place = self._generator.integers(self.capacity)
            self.rows[place], self.labels[place] = entering.rows[at], entering.labels[at]

    def _chances_of(self, classes: Array) -> Array:
        """Count arriving samples, and return the chance of each."""
        known = max(len(self._seen), int(classes.max(initial=-1)) + 1)
        self._seen = np.pad(self._seen, (0, known - len(self._seen)))
        self._seen += np.bincount(classes, minlength=known)
        if self._chances is None:
            mine = self._seen[classes]
            return np.asarray(self._seen[self._seen > 0].min() / mine) if len(mine) else mine
        if known > len(self._chances):
            raise OnwardError(
                f"expected a chance for each of {known} classes, found {len(self._chances)}"
            )
        return np.asarray(self._chances[classes])
