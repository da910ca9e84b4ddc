"""IIRC's released rule: which samples a class learns from, and which labels they show.

Nothing in it is random. Samples stand in blocks, one for each subclass in the order of the
hierarchy, and inside a block as in their file. The first tenth of a block is the validation part
of its period, the next one is held back for validation after a period, the rest is trained on. Of
the samples of a subclass, its superclass gets the first 40 %, it gets the last 80 % itself: a
fifth is seen twice, under two labels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onward.data.iirc_hierarchy import Classes, Periods
from onward.data.iirc_orders import require_order
from onward.errors import OnwardError
from onward.types import Array, Rows, Samples

Counts = NDArray[np.int64]
Information = Literal["incomplete", "complete"]
_NONE = -1
_MOST_MORE = 1000


@dataclass(frozen=True)
class Shares:
    """Which shares of a subclass's samples go where; all are rounded down.

    Parameters
    ----------
    superclass
        What a superclass gets of each of its subclasses, the first ones.
    subclass
        What a subclass gets, the last ones. Without a superclass it gets all.
    validation
        What is held back for validation in the period, and once more for after it.
    cap
        With more subclasses than these, a superclass gets no more samples in all.
    """

    superclass: float = 0.4
    subclass: float = 0.8
    validation: float = 0.1
    cap: int = 8

    def __post_init__(self) -> None:
        if type(self.cap) is not int or self.cap < 1:
            raise OnwardError(f"expected a cap of 1 subclass or more, found {self.cap!r}")
        for name, least, most in (
            ("superclass", 0.001, 1.0),
            ("subclass", 0.001, 1.0),
            ("validation", 0.0, 0.5),
        ):
            share = getattr(self, name)
            if not (isinstance(share, int | float) and least <= share <= most):
                raise OnwardError(
                    f"expected the share {name} from {least} to {most}, found {share!r}"
                )


CIFAR = Shares()
IMAGENET = Shares(validation=0.04)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Samples block by block: the rows, and how many of them each subclass has."""

    rows: Rows
    counts: Counts

    @cached_property
    def starts(self) -> Counts:
        """Where each block begins."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    @staticmethod
    def of(labels: NDArray[np.int64], rows: Rows, subclasses: int) -> "Blocks":
        """Sort rows into blocks by their subclass, which keeps the order of the file."""
        # Few classes as small numbers are counted instead of compared.
        kind = np.uint8 if subclasses <= 256 else np.uint16
        order = np.argsort(labels.astype(kind), kind="stable")
        return Blocks(rows[order], np.bincount(labels, minlength=subclasses))

    def ranges(self, begin: Counts, end: Counts) -> "Blocks":
        """Return the samples from one place to another inside every block."""
        some = np.flatnonzero(end > begin)
        borders = zip((self.starts + begin)[some], (self.starts + end)[some], strict=True)
        pieces = [self.rows[a:b] for a, b in borders]
        return Blocks(np.concatenate([self.rows[:0], *pieces]), end - begin)


class Parts(NamedTuple):
    """The four parts of the data."""

    train: Blocks
    validation: Blocks
    after: Blocks
    test: Blocks


def part(train: Blocks, test: Blocks, shares: Shares) -> Parts:
    """Hold the two validation parts back from the training samples."""
    held = (shares.validation * train.counts).astype(np.int64)
    nothing = np.zeros_like(held)
    return Parts(
        train.ranges(2 * held, train.counts),
        train.ranges(nothing, held),
        train.ranges(held, 2 * held),
        test,
    )


class Rule:
    """The rule for one hierarchy and one order of classes.

    Some classes may come in no period: their samples are learned under their superclass alone.
    """

    def __init__(self, classes: Classes, periods: Periods, shares: Shares) -> None:
        require_order(periods, classes)
        self.shares = shares
        self.subclasses = tuple(classes.parent)
        self.names = tuple(name for names in periods for name in names)
        # Where the classes of each period end in the list of all.
        self.known = np.cumsum([0, *map(len, periods)])
        number = {name: place for place, name in enumerate(self.names)}
        above = classes.parent
        self._pairs = np.array(
            [[number.get(above[name] or "", _NONE), number.get(name, _NONE)] for name in above],
            np.int64,
        )
        self._alone = np.array([up is None for up in above.values()])
        sizes = [len(classes.superclasses[up]) if up is not None else 1 for up in above.values()]
        self._siblings = np.array(sizes)
        self._supers = classes.superclasses

    def shown(self, part: Blocks, period: int, information: Information) -> Samples:
        """Return what a period shows of a training or validation part, and under which labels."""
        by_super, by_own = self._of_period(period).T
        # A superclass comes before its subclasses: no block is asked for twice.
        begin = np.where(by_own, part.counts - self._last(part.counts), 0)
        end = np.where(by_own, part.counts, np.where(by_super, self._first(part.counts), 0))
        return _samples(part, begin, end, self._labels(period, information))

    def tested(self, part: Blocks, period: int) -> Samples:
        """Return all samples that have a label of this period, with all labels they will have."""
        ours = self._of_period(period).any(1)
        end = np.where(ours, part.counts, 0)
        return _samples(part, np.zeros_like(end), end, self._every)

    def all_labels(self, subclasses: Counts) -> Array:
        """Return all labels that samples will ever have, by their subclass, -1 for none."""
        none = np.full((1, 2), _NONE)
        return np.concatenate([self._every, none])[subclasses]

    @property
    def used(self) -> NDArray[np.bool_]:
        """Say of every subclass whether its samples are in any period."""
        return np.asarray((self._pairs >= 0).any(1))

    @cached_property
    def _every(self) -> Array:
        return _sorted(self._pairs, self._pairs >= 0)

    def require_samples(self, parts: Parts) -> None:
        """Raise where a class would be without samples, or a share of it rounds to none."""
        total = parts.train.counts + parts.validation.counts + parts.after.counts
        for name, n in zip(self.subclasses, total.tolist(), strict=True):
            if not n:
                raise OnwardError(
                    f"expected samples of every class, found none of {name!r} to learn from. Take "
                    "it out of the hierarchy, or bring some"
                )
        for at in np.flatnonzero(self.used & (parts.train.counts == 0))[:1]:
            raise OnwardError(
                f"expected samples of {self.subclasses[at]!r} to train on, found that all "
                f"{total[at]} are held back for validation. Hold less back (validation=0)"
            )
        here = (self._pairs[:, 1] >= 0) & ~self._alone
        for what, blocks in (("training", parts.train), ("validation", parts.validation)):
            lost = np.flatnonzero(here & (blocks.counts > 0) & (self._last(blocks.counts) == 0))
            if len(lost):
                name, n = self.subclasses[lost[0]], int(total[lost[0]])
                raise OnwardError(
                    f"expected enough samples of {name!r} for {self.shares.subclass:.0%} of its "
                    f"{what} part, found {n} in all, of which {blocks.counts[lost[0]]} are in that "
                    f'part: rounded down, the share is none, and "the last 0" of a list is all '
                    f"of it. {self._enough(n)} (validation=0)"
                )
        self._require_super_samples(parts.train)

    def _require_super_samples(self, train: Blocks) -> None:
        first = self._first(train.counts)
        for name in self._supers:
            place = self.names.index(name) if name in self.names else _NONE
            members = self._pairs[:, 0] == place
            if place != _NONE and not first[members].sum():
                raise OnwardError(
                    f"expected samples of every class, found none for the superclass {name!r}: its "
                    f"{members.sum()} subclasses have {train.counts[members].max()} at most to "
                    f"learn from, of which its share rounds to none. Bring more"
                )

    def _enough(self, n: int) -> str:
        """Say how many samples would do, if any number does, and what else."""
        for more in range(n + 1, n + _MOST_MORE):
            held = int(self.shares.validation * more)
            trained = more - 2 * held
            if trained and all(int(self.shares.subclass * k) for k in (held or trained, trained)):
                return f"Bring at least {more}, or hold less back"
        return "Hold less back"

    def _first(self, counts: Counts) -> Counts:
        crowded = self._siblings > self.shares.cap
        # In this order, as the released code multiplies: the last bit decides what is rounded down.
        capped = self.shares.cap / self._siblings * self.shares.superclass
        share = np.where(crowded, capped, self.shares.superclass)
        return (share * counts).astype(np.int64)

    def _last(self, counts: Counts) -> Counts:
        own = (self.shares.subclass * counts).astype(np.int64)
        return np.where(self._alone, counts, own)

    def _of_period(self, period: int) -> NDArray[np.bool_]:
        """Say for every subclass whether its superclass, and whether it, comes in a period."""
        begin, end = self.known[period], self.known[period + 1]
        return np.asarray((self._pairs >= begin) & (self._pairs < end))

    def _labels(self, period: int, information: Information) -> Array:
        since = self.known[period] if information == "incomplete" else 0
        pairs = self._pairs
        return _sorted(pairs, (pairs >= since) & (pairs < self.known[period + 1]))


def _sorted(pairs: Array, kept: Array) -> Array:
    """Return the labels that are kept in ascending order, and -1 behind them."""
    last = np.iinfo(np.int64).max
    labels = np.sort(np.where(kept, pairs, last), axis=1)
    return np.where(labels == last, _NONE, labels)


def _samples(part: Blocks, begin: Counts, end: Counts, labels: Array) -> Samples:
    found = part.ranges(begin, end)
    return Samples(found.rows, np.repeat(labels, found.counts, axis=0))
