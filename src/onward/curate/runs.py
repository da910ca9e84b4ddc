"""Rows on disk in order of time, so that the rows of any range of times are a slice."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from onward.data.hashing import Hashes
from onward.files import make_folder
from onward.table import Array

_BATCH = 1 << 9


@dataclass(frozen=True)
class Run:
    """A run under this path: ``.arrow`` has the rows, ``.times`` and ``.hashes`` sorted numbers.

    Files are mapped into memory while they are looked at, and no longer.
    """

    path: Path

    @property
    def times(self) -> NDArray[np.int64]:
        """The moments of all rows, in order."""
        return np.load(self.path.with_suffix(".times.npy"), mmap_mode="r")  # type: ignore[no-any-return]

    @property
    def hashes(self) -> Hashes:
        """The hashes of all ids, in their own order."""
        return np.load(self.path.with_suffix(".hashes.npy"), mmap_mode="r")  # type: ignore[no-any-return]

    def read(self, first: int, last: int, columns: Iterable[str]) -> pa.Table:
        """Return rows from one place to before another."""
        with pa.memory_map(str(self.path.with_suffix(".arrow"))) as file:
            reader = pa.ipc.open_file(file)
            start = first // _BATCH
            numbers = range(start, -(-last // _BATCH)) if last > first else range(0)
            batches = [reader.get_batch(number) for number in numbers]
            table = pa.Table.from_batches(batches, reader.schema).select(list(columns))
            return table.slice(first - start * _BATCH, max(last - first, 0))


def hash_ids(ids: pa.ChunkedArray) -> Hashes:
    """Return hashes that are the same in one version of polars, on one machine."""
    return pl.Series(values=ids).hash().to_numpy()


def write_run(path: Path, rows: pa.Table, kept: Array) -> None:
    """Write those rows that are kept, in order of time."""
    make_folder(path.parent)
    times = rows.column("time").to_numpy()[kept]
    order = np.argsort(times, kind="stable")
    table = rows.take(kept[order]).combine_chunks()
    with (
        pa.OSFile(str(path.with_suffix(".arrow")), "wb") as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=_BATCH)
    np.save(path.with_suffix(".times.npy"), times[order])
    np.save(path.with_suffix(".hashes.npy"), np.sort(hash_ids(table.column("id"))))
