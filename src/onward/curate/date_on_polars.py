"""First-seen months on one machine: pairs are compared by hashes, and rows read twice.

A pair is known by 64 bits of its URL and 64 of its caption: some 25 bytes a row are held in
memory, and no text. Rows are then read again, laid into one drawer per part, and written part by
part.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from onward.curate.engines import WORK
from onward.curate.first_seen import (
    NOWHERE,
    REASONS,
    TWICE,
    Part,
    dated,
    first_month,
    micros_of,
)
from onward.curate.pair_reading import (
    cleaned,
    pool_frames,
    snapshot_frames,
    with_ids,
)
from onward.curate.polars_files import reading_polars
from onward.curate.pool_rows import write_dropped, write_part
from onward.curate.reading import Piece
from onward.curate.records import DATED
from onward.curate.rules import SEEN, nth_of
from onward.curate.snapshots import Snapshots
from onward.files import make_folder
from onward.types import Array

_KEY = ("of_url", "of_caption")
_REASON = pl.Enum(REASONS)
_MOST_KEYS = 60_000_000
_HASHES = (pl.col("url").hash(1).alias(_KEY[0]), pl.col("caption").hash(2).alias(_KEY[1]))


class DateOnPolars:
    """See `onward.curate.date.DateEngine`."""

    def __init__(self, out: Path) -> None:
        self._out, self._work = out, out / WORK
        self._pieces: Sequence[Piece] = ()
        self._sizes: list[int] = []
        self._rows = pl.DataFrame()

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> None:
        """Hold the hashes of all pairs."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._pieces = pieces
        found = []
        for piece in pieces:
            with reading_polars(piece.source):
                held = [
                    frame.select(
                        *_HASHES,
                        pl.col("id").hash(3).alias("of_id"),
                        pl.col("id").is_null().alias("bare"),
                        pl.col("fault").cast(_REASON).alias("reason"),
                    ).collect()
                    for frame in pool_frames(piece)
                ]
            rows = pl.concat(held)
            order = pl.int_range(len(rows), dtype=pl.Int64) + piece.first
            found.append(rows.with_columns(order.alias("order")))
            self._sizes.append(len(rows))
            progress(1)
        self._rows = pl.concat(found)

    def match(
        self, snapshots: Snapshots, progress: Callable[[int], None]
    ) -> dict[int | None, tuple[int, int]]:
        """Give every pair the first month in which a snapshot has it."""
        counted: dict[int | None, tuple[int, int]] = {}
        held: list[pl.DataFrame] = []
        for piece, month in zip(snapshots.pieces, snapshots.months, strict=True):
            for frame in snapshot_frames(piece, month):
                with reading_polars(piece.source):
                    found = frame.select(*_HASHES, "month", "undecoded").collect()
                for row in _by_month(found).to_dicts():
                    before = counted.get(row["month"], (0, 0))
                    counted[row["month"]] = (before[0] + row["rows"], before[1] + row["undecoded"])
                held.append(found.drop("undecoded").drop_nulls("month"))
            if sum(map(len, held)) > _MOST_KEYS:
                # What the pool does not have is not held on to.
                held = [_first(held).join(self._rows.select(_KEY), on=_KEY, how="semi")]
            progress(1)
        first = nw.from_native(_first(held).lazy())
        known = dated(nw.from_native(self._rows.lazy()), first, _KEY)
        self._rows = nw.to_native(known).collect().sort("order")
        nowhere = pl.when(pl.col("month").is_null()).then(pl.lit(NOWHERE).cast(_REASON))
        self._rows = self._rows.with_columns(pl.coalesce("reason", nowhere).alias("reason"))
        self._leave_out(_KEY, ["order"], TWICE)
        self._leave_out(["of_id"], ["month", "order"], SEEN)
        return counted

    def _leave_out(self, key: Sequence[str], order: Sequence[str], reason: str) -> None:
        """Keep the first row of each key; only rows whose hash is there twice are looked at."""
        kept = pl.col("reason").is_null() & (~pl.col("bare") if key == ["of_id"] else True)
        held = self._rows.filter(kept).select(*dict.fromkeys([*key, *order, "order"]))
        some = held.filter(held[key[0]].is_duplicated())
        if not len(some):
            return
        numbered = nth_of(nw.from_native(some.lazy()), key, order)
        again = nw.to_native(numbered.filter(nw.col("nth") > 1)).collect()["order"].sort()
        twice = pl.when(pl.col("order").is_in(again.implode())).then(pl.lit(reason).cast(_REASON))
        self._rows = self._rows.with_columns(pl.coalesce("reason", twice).alias("reason"))

    def months(self) -> dict[int, int]:
        """Count what is kept by month."""
        kept = self._rows.filter(pl.col("reason").is_null())
        return dict(kept.group_by("month").len().iter_rows())

    def dropped(self) -> dict[str, int]:
        """Count what is not kept by reason."""
        left = self._rows.filter(pl.col("reason").is_not_null())
        return {str(reason): rows for reason, rows in left.group_by("reason").len().iter_rows()}

    def hashed(self) -> int:
        """Count what is kept without an id of its own."""
        return int((self._rows["reason"].is_null() & self._rows["bare"]).sum())

    def write(
        self, parts: Sequence[Part], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Lay rows into drawers, then write one part after the other."""
        starts = np.array([(p.month << 32) + int(p.start[1] or "0", 16) for p in parts], np.int64)
        first, drawers = 0, []
        for piece, size in zip(self._pieces, self._sizes, strict=True):
            known = self._rows.slice(first, size)
            first += size
            drawers.append(self._lay(piece, known, starts))
        written = []
        for number, part in enumerate(parts):
            held = [one for one in (d.take(number) for d in drawers) if one is not None]
            found: dict[str, Any] = {"rows": 0}
            if held:
                table = pa.concat_tables(held)
                found = write_part(table, rows / part.path, DATED)
            written.append(found)
            progress(found["rows"])
        return written

    def _lay(self, piece: Piece, known: pl.DataFrame, starts: Array) -> "_Drawers":
        with reading_polars(piece.source):
            held = pl.concat([frame.drop("fault").collect() for frame in pool_frames(piece)])
        good = known["reason"].is_null()
        left = ~good
        if left.any():
            path = self._out / "dropped" / f"{piece.name}.parquet"
            ids, reasons = held["id"].filter(left), known["reason"].filter(left).cast(pl.String)
            write_dropped(ids.to_arrow(), reasons.to_arrow(), str(piece.source), path)
        kept = with_ids(held.filter(good))
        month = known["month"].filter(good)
        return _Drawers.lay(self._work / piece.name, _finished(kept, month), starts)

    def close(self) -> None:
        """Forget everything."""
        self._rows = pl.DataFrame()


class _Drawers:
    """The rows of a piece on disk, those of one part together."""

    def __init__(self, path: Path, places: dict[int, int]) -> None:
        self._path, self._places = path, places

    @classmethod
    def lay(cls, path: Path, rows: pl.DataFrame, starts: Array) -> "_Drawers":
        """Write rows, by the part that they belong to."""
        make_folder(path.parent)
        prefix = rows["id"].str.slice(0, 8).str.to_integer(base=16).to_numpy()
        month = rows["month"].to_numpy().astype(np.int64)
        part = np.searchsorted(starts, (month << 32) + prefix, side="right") - 1
        order = np.argsort(part, kind="stable")
        numbers, first = np.unique(part[order], return_index=True)
        table = rows.drop("month")[order].to_arrow(compat_level=pl.CompatLevel.oldest())
        ends = [*first.tolist(), len(rows)][1:]
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            for start, end in zip(first.tolist(), ends, strict=True):
                writer.write_batch(table.slice(start, end - start).combine_chunks().to_batches()[0])
        return cls(path, {number: place for place, number in enumerate(numbers.tolist())})

    def take(self, part: int) -> pa.Table | None:
        """Return the rows of a part, where they lie."""
        if part not in self._places:
            return None
        with pa.memory_map(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            return pa.table(reader.get_batch(self._places[part]))


def _finished(rows: pl.DataFrame, month: pl.Series) -> pl.DataFrame:
    """Give rows their time, and captions without HTML."""
    known = month.unique().to_list()
    times = month.replace_strict(known, [micros_of(one) for one in known], return_dtype=pl.Int64)
    return rows.with_columns(
        cleaned(rows["caption"]).alias("caption"),
        month.alias("month"),
        times.alias("time"),
        pl.lit(None, pl.Int64).alias("taken"),
    )


def _first(held: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the first month of each key."""
    every = nw.from_native(pl.concat(held).lazy())
    return pl.DataFrame(nw.to_native(first_month(every, _KEY)).collect())


def _by_month(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("month").agg(pl.len().alias("rows"), pl.col("undecoded").sum())
