"""In which order the images of a pool are fetched, and in which shard each one is.

The order is that of a hash of the id: as good as drawn by lot, so that the first N are a sample of
the whole pool in every bucket, and the same whoever computes it. A shard is a range of hashes.
Rows are dealt out once into a few files, and never held all at once.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onward.binary_files import read_parquet
from onward.curate.records import row_files
from onward.data.hashing import hash_texts
from onward.files import make_folder, write_atomic
from onward.table import Array

_BANDS = 256
_READY = "ready"


@dataclass(frozen=True)
class ShardPlan:
    """The rows of a pool by shard, in files below a folder."""

    pool: Path
    folder: Path
    shards: int

    def prepare(self) -> None:
        """Deal out the rows, unless that was done before."""
        if (self.folder / _READY).is_file():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        make_folder(self.folder)
        writers: dict[int, Any] = {}
        try:
            for _, path in row_files(self.pool):
                self._deal(read_parquet(path), writers)
        finally:
            for writer in writers.values():
                writer.close()
        write_atomic(self.folder / _READY, b"")

    def rows(self, shard: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of a shard, in their order."""
        path = self.folder / f"{self._band(np.array([shard]))[0]:03d}.arrows"
        if not path.is_file():
            return
        with pa.OSFile(str(path)) as file:
            batches = [
                batch.filter(pa.array(batch.column("shard").to_numpy() == shard))
                for batch in pa.ipc.open_stream(file)
            ]
        table = pa.Table.from_batches(batches).sort_by([("hash", "ascending"), ("id", "ascending")])
        for batch in table.drop_columns(["hash", "shard"]).to_batches(1000):
            yield from batch.to_pylist()

    def _deal(self, rows: pa.Table, writers: dict[int, Any]) -> None:
        hashes = hash_texts(rows.column("id"))
        # The upper half of a hash, spread over the shards.
        shards = ((hashes >> np.uint64(32)) * np.uint64(self.shards) >> np.uint64(32)).astype(
            np.int32
        )
        rows = rows.append_column("hash", pa.array(hashes)).append_column("shard", pa.array(shards))
        bands = self._band(shards)
        order = np.argsort(bands, kind="stable")
        rows, bands = rows.take(order), bands[order]
        for band in np.unique(bands).tolist():
            first, last = np.searchsorted(bands, [band, band + 1])
            if band not in writers:
                path = self.folder / f"{band:03d}.arrows"
                writers[band] = pa.ipc.new_stream(pa.OSFile(str(path), "wb"), rows.schema)
            writers[band].write_table(rows.slice(first, last - first))

    def _band(self, shards: Array) -> Array:
        """Return the file that a shard is in: there are not many of them."""
        return np.asarray(shards.astype(np.int64) * min(self.shards, _BANDS) // self.shards)
