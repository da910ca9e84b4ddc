"""CLEAR's biased reservoir: a bounded memory that may prefer recent samples, bucket by bucket."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import Store, arrivals
from onward.types import Samples


@dataclass(frozen=True)
class Dynamic:
    """The alpha c · i / k, which grows with what was seen: new samples enter with probability c."""

    c: float

    def at(self, seen: int, capacity: int) -> float:
        """Return alpha once this many samples were seen."""
        return self.c * seen / capacity


dynamic = Dynamic
"""Makes an alpha with which each new sample enters with probability c, always."""


class BiasedReservoir(Store):
    """Keeps up to `capacity` samples; the larger alpha is, the more recent they are.

    Samples of one call of `admit` arrive together. Free places go to some of them at random. Each
    of the others is accepted with probability p = min(1, alpha · k / i), where k is the capacity
    and i the number of samples seen, the arriving ones included. The accepted ones overwrite as
    many distinct places; if there are more than k of them, k stay at random.

    Parameters
    ----------
    capacity, seed
        As of any `Store`.
    alpha
        A constant, with 1 for the unbiased reservoir, or ``dynamic(c)``.
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

    saved = (*Store.saved, "_seen")

    def __init__(
        self,
        capacity: int,
        alpha: float | Dynamic = 1.0,
        seed: int = 0,
        replacement: Literal["random", "tail"] = "random",
    ) -> None:
        super().__init__(capacity, seed)
        if not (alpha.c if isinstance(alpha, Dynamic) else alpha) >= 0:
            raise OnwardError(f"expected an alpha of 0 or more, found {alpha}")
        if replacement not in ("random", "tail"):
            raise OnwardError(f"expected replacement 'random' or 'tail', found {replacement!r}")
        self.alpha = alpha
        self.replacement = replacement
        self._seen = 0

    def admit(self, rows: ArrayLike, labels: ArrayLike | None = None) -> None:
        """Let these samples, which arrive together, compete for a place."""
        arriving = arrivals(rows, labels)
        if not len(arriving):
            return
        order = self._generator.permutation(len(arriving))
        if self.replacement == "tail":
            order = order[: self.capacity]
        self._seen += len(order)
        alpha = self.alpha
        if isinstance(alpha, Dynamic):
            alpha = alpha.at(self._seen, self.capacity)
        probability = min(1.0, alpha * self.capacity / self._seen)
        room = self.capacity - len(self.rows)
        fill, others = order[:room], order[room:]
        # The others are in random order: the first k of the accepted are k of them at random.
        drawn = self._generator.random(len(others))
        accepted = others[drawn < probability][: self.capacity]
        stored = Samples.join([self.samples, arriving[fill]])
        if self.replacement == "random":
            places = self._generator.choice(len(stored), len(accepted), replace=False)
        else:
            places = np.arange(len(stored) - len(accepted), len(stored))
        entering = arriving[accepted]
        stored.rows[places], stored.labels[places] = entering.rows, entering.labels
        self.samples = stored
