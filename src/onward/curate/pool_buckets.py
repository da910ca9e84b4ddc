"""In which bucket of a pool an id is, without holding its ids."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from onward.binary_files import parquet_tables
from onward.curate.records import row_files
from onward.curate.stage import Stage
from onward.table import Array

_ROWS = 1 << 16


class PoolBuckets:
    """The bucket of each id of a pool.

    An id is known by Python's hash of it, 64 bits that are other ones in each process: ten bytes
    a row, and one chance in a million that two of eight million ids are taken for each other.
    """

    def __init__(self, pool: Stage) -> None:
        hashes, buckets = [np.empty(0, np.int64)], [np.empty(0, np.int16)]
        for bucket, part in row_files(pool.folder):
            for some in ids_in(part):
                hashes.append(hashed(some))
                buckets.append(np.full(len(some), bucket, np.int16))
        every = np.concatenate(hashes)
        order = np.argsort(every, kind="stable")
        self._hashes, self._buckets = every[order], np.concatenate(buckets)[order]
        self._seen = np.zeros(len(every), bool)

    def of(self, hashes: Array) -> Array:
        """Return the bucket of each id, -1 where the pool has it not, by its hash."""
        if not len(self._hashes):
            return np.full(len(hashes), -1, np.int32)
        places = np.searchsorted(self._hashes, hashes).clip(max=len(self._hashes) - 1)
        known = self._hashes[places] == hashes
        self._seen[places[known]] = True
        return np.where(known, self._buckets[places], -1).astype(np.int32)

    @property
    def never_asked(self) -> int:
        """How many of its ids were never asked for."""
        return int((~self._seen).sum())


def hashed(ids: Iterable[str]) -> Array:
    """Return a number for each id, the same in one process."""
    return np.fromiter(map(hash, ids), np.int64)


def ids_in(path: Path) -> Iterator[list[str]]:
    """Yield the ids in a parquet file, some at a time."""
    for table in parquet_tables(path, _ROWS, ["id"]):
        yield table.column(0).to_pylist()
