"""CLEAR's biased reservoir: a bounded memory that may prefer recent samples, bucket by bucket."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import arrivals
from onward.types import Array, Rows


@dataclass(frozen=True)
class Dynamic:
    """The alpha c · i / k, which grows with what was seen: new samples enter with probability c."""

    c: float

    def at(self, seen: int, capacity: int) -> float:
        """Return alpha once this many samples were seen."""
        return self.c * seen / capacity


def dynamic(c: float) -> Dynamic:
    """Return an alpha with which each new sample enters with probability `c`, always."""
    return Dynamic(c)


class BiasedReservoir:
    """Keeps up to `capacity` samples; the larger alpha is, the more recent they are.

    Samples of one call of `admit` arrive together. Free places go to some of them at random. Each
    of the others is accepted with probability p = min(1, alpha · k / i), where k is the capacity
    and i the number of samples seen, the arriving ones included. The accepted ones overwrite as
    many distinct places; if there are more than k of them, k stay at random.

    Parameters
    ----------
    capacity
        How many samples it holds at most.
    alpha
        A constant, with 1 for the unbiased reservoir, or ``dynamic(c)``.
    seed
        Draws who is accepted and who must go.
    replacement
        ``random`` places are overwritten, as the paper's text has it, or the ``tail``, as in the
        authors' code: the newest of the old samples go first, and a bucket that is larger than
        the memory is first cut to its size, in i too.

    References
    ----------
    Lin et al., The CLEAR Benchmark, NeurIPS 2021 Datasets and Benchmarks, section 5; supplement,
    section 4.

    Examples
    --------
    >>> memory = BiasedReservoir(3, alpha=dynamic(1.0), seed=0)
    >>> for start in (0, 3, 6):
    ...     memory.admit(np.arange(start, start + 3))
    >>> sorted(memory.rows.tolist())
    [6, 7, 8]
    """

    def __init__(
        self,
        capacity: int,
        alpha: float | Dynamic = 1.0,
        seed: int = 0,
        replacement: Literal["random", "tail"] = "random",
    ) -> None:
        if capacity < 1:
            raise OnwardError(f"a reservoir needs a capacity of at least 1, found {capacity}")
        if not (alpha.c if isinstance(alpha, Dynamic) else alpha) >= 0:
            raise OnwardError(f"expected an alpha of 0 or more, found {alpha}")
        if replacement not in ("random", "tail"):
            raise OnwardError(f"expected replacement 'random' or 'tail', found {replacement!r}")
        self.capacity = capacity
        self.alpha = alpha
        self.replacement = replacement
        self.rows: Rows = np.empty(0, np.int64)
        self.labels: Array = np.empty(0, np.int64)
        self._seen = 0
        self._rng = np.random.default_rng(seed)

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples, which arrive together, compete for a place."""
        rows, labels = arrivals(rows, labels)
        if not len(rows):
            return
        order = self._rng.permutation(len(rows))
        if self.replacement == "tail":
            order = order[: self.capacity]
        self._seen += len(order)
        room = self.capacity - len(self.rows)
        fill, others = order[:room], order[room:]
        # The others are in random order: the first k of the accepted are k of them at random.
        accepted = others[self._rng.random(len(others)) < self._probability()][: self.capacity]
        kept = np.concatenate([self.rows, rows[fill]])
        kept_labels = (
            np.concatenate([self.labels, labels[fill]]) if len(self.rows) else labels[fill]
        )
        if self.replacement == "random":
            places = self._rng.choice(len(kept), len(accepted), replace=False)
        else:
            places = np.arange(len(kept) - len(accepted), len(kept))
        kept[places], kept_labels[places] = rows[accepted], labels[accepted]
        self.rows, self.labels = kept, kept_labels

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

    def _probability(self) -> float:
        alpha = self.alpha
        if isinstance(alpha, Dynamic):
            alpha = alpha.at(self._seen, self.capacity)
        return min(1.0, alpha * self.capacity / self._seen)
