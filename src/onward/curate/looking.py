"""The best rows of each query, in each group of rows, without holding the pool.

Blocks are multiplied in float32 by one thread each. How far such a score may be from the exact one
is known for any order of summation, so the few rows that may be among the best are kept, see
`onward.curate.survivors`, and scored again: the products in float64, added pairwise along the row,
rounded to float32. Only this decides, so neither the size of a block nor the number of threads can
be seen in the result.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onward.curate.store import Store
from onward.curate.survivors import Offer, Survivors
from onward.errors import OnwardError
from onward.table import Array, Rows

if TYPE_CHECKING:
    import torch

# What half a unit in the last place of float32 is, beside 1.
_ROUNDING = 2.0**-24
# More than what vanishes where numbers are too small for float32.
_TINY = 2.0**-100
_AGAIN = 64


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each row belongs to; rows of the group -1 are passed over."""

    of_rows: Array
    count: int


@dataclass(frozen=True, eq=False)
class Scan:
    """What is looked for.

    Parameters
    ----------
    queries
        (concept, one or more, width). The score of a row is the best of its products with a
        concept's queries.
    best, worst
        How many of the rows with the highest, and with the lowest scores of each concept.
    groups
        Kept apart; none: all rows are one group.
    histogram
        How many equal parts from -1 to 1 scores are counted in, if they are to be.
    """

    queries: Array
    best: int
    worst: int = 0
    groups: Groups | None = None
    histogram: int = 0


@dataclass(frozen=True, eq=False)
class Found:
    """What a scan has found.

    Parameters
    ----------
    best, worst
        By group and concept the scores and rows, best first, or lowest first; ties by row.
    histogram
        Rows by group, concept and part.
    """

    best: dict[tuple[int, int], tuple[Array, Rows]]
    worst: dict[tuple[int, int], tuple[Array, Rows]]
    histogram: Array


class Looking:
    """What the threads of a scan share."""

    def __init__(self, store: Store, wanted: Scan) -> None:
        self._store, self._wanted = store, wanted
        concepts, self._each, width = wanted.queries.shape
        self._queries = np.asarray(wanted.queries, np.float64)
        lengths = np.sqrt((self._queries**2).sum(2)).max(1)
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        # Of length one, so that no query is too long or too short for float32.
        unit = (self._queries / self._lengths[:, None, None]).reshape(-1, width)
        self._unit = np.ascontiguousarray(unit, np.float32)
        # For any order of summation, beside the length of a row; and some more for what was rounded
        # before and will be after, and for that length.
        self._error = 1.1 * (width + 16) * _ROUNDING
        self._count = wanted.groups.count if wanted.groups else 1
        best = np.repeat([wanted.best, wanted.worst], concepts)
        self._columns = 2 * concepts if wanted.worst else concepts
        self._survivors = Survivors(self._count, best[: self._columns], self._exact)
        self._histogram = np.zeros((self._count, concepts, wanted.histogram), np.int64)
        self._lock = threading.Lock()

    def looker(self, rows: int) -> Callable[[int, int, int], None]:
        """Return what one thread does with a block, with room of its own for it."""
        import torch

        torch.set_num_threads(1)
        queries, width = torch.from_numpy(self._unit), self._store.width
        room = torch.empty((rows, width))
        scores = torch.empty((len(self._unit), rows))
        as_array = scores.numpy()

        def look(shard: int, first: int, last: int) -> None:
            start = int(self._store.starts[shard]) + first
            groups = self._wanted.groups
            group = None if groups is None else groups.of_rows[start : start + last - first]
            if group is not None and group.max() < 0:
                return
            block = _floats(self._store.arrays[shard][first:last], room)
            lengths = torch.linalg.vector_norm(block, dim=1)
            if not np.isfinite(float(lengths.max())):
                self._complain(shard, first, last)
            torch.mm(queries, block.T, out=scores[:, : last - first])
            seen = as_array[:, : last - first]
            if self._each > 1:
                seen = seen.reshape(-1, self._each, last - first).max(1)
            if self._wanted.histogram:
                self._count_scores(seen, group)
            self._keep(seen, group, start, self._error * lengths.numpy() + _TINY)

        return look

    def _keep(self, seen: Array, group: Array | None, start: int, errors: Array) -> None:
        """Offer who may be among the best of this block, given how wrong each score may be."""
        concepts, error = len(seen), float(errors.max())
        for sign, first in ((1, 0), (-1, concepts))[: 2 if self._wanted.worst else 1]:
            least = self._survivors.least[:, first : first + concepts] / self._lengths - error
            lower = np.nextafter(least.astype(np.float32), np.float32(-np.inf))
            limit = lower[0][:, None] if group is None else lower[group].T
            mask = seen >= limit if sign > 0 else seen <= -limit
            if group is not None:
                mask &= group >= 0
            if not mask.any():
                continue
            concept, place = np.nonzero(mask)
            of_group = 0 if group is None else group[place].astype(np.int64)
            lengths = self._lengths[concept]
            self._survivors.add(
                Offer(
                    of_group * self._columns + first + concept,
                    start + place,
                    sign * seen[concept, place] * lengths,
                    errors[place] * lengths,
                )
            )

    def _count_scores(self, seen: Array, group: Array | None) -> None:
        parts = self._wanted.histogram
        part = np.clip(((seen + 1) * (parts / 2)).astype(np.int64), 0, parts - 1)
        if group is None:
            group = np.zeros(seen.shape[1], np.int64)
        inside = group >= 0
        first = (group[inside].astype(np.int64) * len(seen))[None] + np.arange(len(seen))[:, None]
        with self._lock:
            np.add.at(self._histogram.reshape(-1), first * parts + part[:, inside], 1)

    def _exact(self, rows: Rows, column: int) -> Array:
        """Return the scores of rows as the docstring of this module says."""
        concept = column % len(self._queries)
        found = np.empty(len(rows))
        # Fresh memory costs more than the sums: the same room serves for all.
        values, products = np.empty((2, min(_AGAIN, len(rows)), self._store.width))
        for first in range(0, len(rows), _AGAIN):
            some = rows[first : first + _AGAIN]
            held, room = values[: len(some)], products[: len(some)]
            _copy(self._store.take(some), held)
            sums = [np.multiply(held, query, out=room).sum(1) for query in self._queries[concept]]
            found[first : first + _AGAIN] = np.max(sums, axis=0)
        found = found.astype(np.float32).astype(np.float64) + 0.0  # there is but one zero
        return found if column == concept else -found

    def found(self) -> Found:
        """Return what is left."""
        concepts = len(self._queries)
        best, worst = {}, {}
        for one, (scores, rows) in self._survivors.ranked().items():
            group, column = divmod(one, self._columns)
            if column < concepts:
                best[group, column] = scores.astype(np.float32), rows
            else:
                worst[group, column - concepts] = (-scores).astype(np.float32), rows
        return Found(best, worst, self._histogram)

    def _complain(self, shard: int, first: int, last: int) -> None:
        block = np.asarray(self._store.arrays[shard][first:last], np.float64)
        wrong = np.flatnonzero(~np.isfinite(block).all(1))
        start = int(self._store.starts[shard]) + first
        which = (
            f"NaN or infinity in row {start + wrong[0]:,}" if len(wrong) else "numbers too large"
        )
        raise OnwardError(
            f"expected finite directions in the store, found {which}. Make the store with onward "
            "curate embed, which leaves such rows out and names them"
        )


def _floats(block: Array, room: "torch.Tensor") -> "torch.Tensor":
    """Return a block of any kind of number as float32: itself, or in the room that there is."""
    import torch

    if block.dtype == np.float32 and block.flags.c_contiguous and block.dtype.isnative:
        return torch.from_numpy(block)
    _copy(block, room.numpy()[: len(block)])
    return room[: len(block)]


def _copy(values: Array, room: Array) -> None:
    """Copy numbers of any kind into an array of another, as torch does: numpy has no hurry."""
    import torch

    native = values.dtype.isnative and values.dtype.itemsize <= 8
    if native and all(step > 0 for step in values.strides):
        torch.from_numpy(room).copy_(torch.from_numpy(values))
    else:
        np.copyto(room, values, casting="unsafe")
