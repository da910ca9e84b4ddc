"""A memory that a sample enters with a chance of its class, whatever came before."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import arrivals, at_least_one
from onward.types import Array, Rows, Samples


class Weighted:
    """Keeps `capacity` samples; each arriving one enters with the chance that its class has.

    Free places are filled by whoever comes first. Later ones take the place of a sample at random,
    so that all leave with the same probability, and rare classes with a high chance are kept more
    of than they occur.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    seed
        Draws who enters, and who must go.
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

    def __init__(
        self, capacity: int, seed: int = 0, chances: Sequence[float] | None = None
    ) -> None:
        if chances is not None and not _are_chances(chances):
            raise OnwardError(f"expected a chance from 0 to 1 for each class, found {chances}")
        self.capacity = at_least_one(capacity)
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._chances = None if chances is None else np.asarray(chances, np.float64)
        self._seen: Array = np.zeros(0, np.int64)
        self._rng = np.random.default_rng(seed)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples enter, one after the other."""
        arriving = Samples(*arrivals(rows, labels))
        chances = self._chances_of(arriving.newest)
        room = self.capacity - len(self.rows)
        enters = self._rng.random(len(arriving)) < chances
        enters[:room] = True
        entering = arriving[np.flatnonzero(enters)]
        after = Samples.join([Samples(self.rows, self.labels), entering[:room]])
        self.rows, self.labels = after.rows.copy(), after.labels.copy()
        for at in range(room, len(entering)):
            place = self._rng.integers(self.capacity)
            self.rows[place], self.labels[place] = entering.rows[at], entering.labels[at]

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""
        return {
            "rows": self.rows,
            "labels": self.labels,
            "seen": self._seen,
            "generator": self._rng.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.rows, self.labels, self._seen = state["rows"], state["labels"], state["seen"]
        self._rng.bit_generator.state = state["generator"]

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


def _are_chances(chances: Any) -> bool:
    return isinstance(chances, list | tuple) and all(
        isinstance(chance, int | float) and 0 <= chance <= 1 for chance in chances
    )
