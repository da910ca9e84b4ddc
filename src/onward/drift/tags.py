"""What samples are tagged with, such as labels, words or nouns: how often, and since when."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onward.types import Array, Rows


def one_below_the_other(parts: Sequence[Array]) -> Array:
    """Return the tags of several parts as one array, with -1 where a sample has fewer."""
    wide = max(part.shape[1] for part in parts)
    pads = [((0, 0), (0, wide - part.shape[1])) for part in parts]
    padded = [np.pad(p, pad, constant_values=-1) for p, pad in zip(parts, pads, strict=True)]
    return np.concatenate(padded)


@dataclass(frozen=True, eq=False)
class Tags:
    """The tags of all samples, period by period.

    Parameters
    ----------
    what
        What they are, in one word.
    names
        What each is called.
    by_period
        For each period an array (samples, tags of one) of numbers of names, -1 where there are
        fewer.
    """

    what: str
    names: tuple[str, ...]
    by_period: Sequence[Array]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each tag is in each period: an array (period, tag)."""
        return np.stack([self.count(tags) for tags in self.by_period])

    def count(self, tags: Array) -> NDArray[np.int64]:
        """Return how often each tag is among those of some samples."""
        return np.bincount(tags[tags >= 0], minlength=len(self.names))

    def new(self, least: int = 1) -> dict[int, list[str]]:
        """Return by period the tags that were in none before, the most frequent first.

        Parameters
        ----------
        least
            How often a tag is there at least to be told.
        """
        found = {}
        for at in range(1, len(self.counts)):
            fresh = (self.counts[:at].sum(0) == 0) & (self.counts[at] >= least)
            if fresh.any():
                found[at] = self._ranked(np.flatnonzero(fresh), self.counts[at])
        return found

    def vanished(self, least: int = 1) -> dict[int, list[str]]:
        """Return by period the tags that the one before had and none has had since."""
        found = {}
        for at in range(1, len(self.counts)):
            gone = (self.counts[at:].sum(0) == 0) & (self.counts[at - 1] >= least)
            if gone.any():
                found[at] = self._ranked(np.flatnonzero(gone), self.counts[at - 1])
        return found

    def _ranked(self, places: Rows, counts: NDArray[np.int64]) -> list[str]:
        order = places[np.argsort(-counts[places], kind="stable")]
        return [self.names[at] for at in order]
