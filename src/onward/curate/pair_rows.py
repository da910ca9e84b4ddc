"""All pairs of a stage in a few arrays: some fifty bytes of each, and no caption."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onward.binary_files import parquet_tables, reading_arrow
from onward.curate.caption_words import words_of
from onward.curate.records import DATED, row_files
from onward.curate.stage import Stage
from onward.data.hashing import Hashes, hash_texts, mix_in
from onward.data.uid_lists import UID, is_uid, uids_of
from onward.errors import OnwardError
from onward.table import Array

_ROWS = 1 << 15
_AGAIN = "Make the folder again: onward curate date"


@dataclass(frozen=True)
class PairPart:
    """A file of rows: its bucket, and the places of its rows among all rows."""

    path: Path
    bucket: int
    rows: range

    def tables(self, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        """Yield some rows at a time, with the place of the first."""
        first = self.rows.start
        for table in parquet_tables(self.path, _ROWS, columns, fix=_AGAIN):
            yield first, table
            first += len(table)


@dataclass(frozen=True, eq=False)
class PairRows:
    """The pairs of a stage, in the order of its files.

    ``uids`` are their ids and ``times`` microseconds; ``said`` is a hash of a caption's words,
    ``listed`` one of address and caption, as they are; ``blank`` says that there are no words.
    """

    parts: tuple[PairPart, ...]
    buckets: NDArray[np.int32]
    uids: Array
    times: NDArray[np.int64]
    said: Hashes
    listed: Hashes
    blank: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def numbers(self) -> Hashes:
        """A number for each pair that depends on its id alone."""
        return mix_in(self.uids["f0"].astype(np.uint64), self.uids["f1"].astype(np.uint64))

    def captions(self) -> Iterator[tuple[int, str]]:
        """Yield the place and the caption of each pair that has one."""
        for part in self.parts:
            for first, table in part.tables(["caption"]):
                for place, caption in enumerate(table.column(0).to_pylist(), first):
                    if caption:
                        yield place, caption

    def taken(
        self, rows: Array, columns: Sequence[str] = ("id", "time", "caption")
    ) -> list[dict[str, Any]]:
        """Return some columns of some rows, in the order of the rows."""
        rows = np.sort(rows)
        found: list[dict[str, Any]] = []
        for part in self.parts:
            mine = rows[np.searchsorted(rows, part.rows.start) :]
            mine = mine[: np.searchsorted(mine, part.rows.stop)]
            if len(mine):
                for first, table in part.tables(list(columns)):
                    here = mine[(mine >= first) & (mine < first + len(table))] - first
                    found += table.take(here).to_pylist()
        return found


def read_pair_rows(stage: Stage) -> PairRows:
    """Read the pairs of a folder of ``date``, ``filter`` or ``tests``."""
    parts: list[PairPart] = []
    held: dict[str, list[Array]] = {name: [] for name in ("uids", "times", "said", "listed")}
    count = 0
    for bucket, path in row_files(stage.folder):
        with reading_arrow(path, "a parquet file at", _AGAIN), pq.ParquetFile(path) as file:
            rows, missing = file.metadata.num_rows, set(DATED.names) - set(file.schema.names)
        if missing:
            raise OnwardError(
                f"expected the columns of dated pairs in {path}, found no "
                f"{' and no '.join(sorted(missing))}. Make the folder again: onward curate date"
            )
        part = PairPart(path, bucket, range(count, count + rows))
        count += rows
        parts.append(part)
        for _, table in part.tables(["id", "time", "url", "caption"]):
            _add(held, table, path)
    if not count:
        raise OnwardError(f"expected pairs in {stage.folder / 'rows'}, found none")
    buckets = np.concatenate([np.full(len(part.rows), part.bucket, np.int32) for part in parts])
    said = np.concatenate(held["said"])
    return PairRows(
        tuple(parts),
        buckets,
        np.concatenate(held["uids"]),
        np.concatenate(held["times"]),
        said,
        np.concatenate(held["listed"]),
        said == hash_texts(pa.array([""]))[0],
    )


def _add(held: dict[str, list[Array]], table: pa.Table, path: Path) -> None:
    ids = table.column("id").to_pylist()
    wrong = next((one for one in ids if not is_uid(one)), None)
    if wrong is not None:
        raise OnwardError(
            f"expected ids of 32 hexadecimal digits in {path}, found {wrong!r}. Make the folder "
            "again: onward curate date"
        )
    captions = table.column("caption").to_pylist()
    words = [" ".join(words_of(caption)) if caption else "" for caption in captions]
    held["uids"].append(uids_of(ids) if ids else np.empty(0, UID))
    held["times"].append(table.column("time").cast(pa.int64()).to_numpy())
    held["said"].append(hash_texts(pa.array(words, pa.string())))
    held["listed"].append(
        mix_in(hash_texts(table.column("url")), hash_texts(table.column("caption")))
    )
