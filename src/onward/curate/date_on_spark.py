"""First-seen months on Apache Spark: workers read and write as one machine does, Spark joins."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa

from onward.curate.first_seen import NOWHERE, TWICE, Part, dated, first_month, micros_of
from onward.curate.on_spark import (
    BATCH,
    kept,
    lists,
    mapped,
    session,
    write_all_dropped,
    write_parts,
)
from onward.curate.pair_reading import READ, cleaned, pool_frames, snapshot_frames
from onward.curate.pair_reading import with_ids as given_ids
from onward.curate.pool_rows import write_part
from onward.curate.reading import Piece
from onward.curate.records import DATED
from onward.curate.rules import SEEN, Frame, nth_of
from onward.curate.snapshots import Snapshots

_KEY = ("url", "caption")
_TYPES = {pl.String: "string", pl.Int32: "int"}
_READ = ", ".join(
    [
        "`order` bigint",
        "`bare` boolean",
        *(f"`{name}` {_TYPES[kind]}" for name, kind in READ.items()),
    ]
)
_SEEN = "`url` string, `caption` string, `month` int, `undecoded` boolean"


class DateOnSpark:
    """See `onward.curate.date.DateEngine`."""

    def __init__(self, out: Path, master: str | None) -> None:
        self._out = out.resolve()
        self._spark = session(master)
        self._pieces: Sequence[Piece] = ()
        self._read: Frame
        self._rows: Frame

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> None:
        """Let workers read pieces."""
        self._pieces = pieces
        self._read = kept(mapped(self._spark, len(pieces), partial(_pool_rows, pieces), _READ))
        progress(len(pieces))

    def match(
        self, snapshots: Snapshots, progress: Callable[[int], None]
    ) -> dict[int | None, tuple[int, int]]:
        """Join on the texts themselves."""
        read = partial(_snapshot_rows, snapshots.pieces, snapshots.months)
        seen = kept(mapped(self._spark, len(snapshots.pieces), read, _SEEN))
        counts = seen.group_by("month").agg(
            nw.len().alias("rows"), nw.col("undecoded").cast(nw.Int64).sum().alias("undecoded")
        )
        counted = {row["month"]: (row["rows"], row["undecoded"]) for row in lists(counts)}
        first = first_month(seen.filter(~nw.col("month").is_null()), _KEY)
        rows = self._read
        good = dated(rows.filter(nw.col("fault").is_null()), first, _KEY)
        lost = rows.filter(~nw.col("fault").is_null())
        names = [*good.collect_schema().names(), "reason"]
        nowhere = nw.when(nw.col("month").is_null()).then(nw.lit(NOWHERE))
        good = good.with_columns(nowhere.alias("reason")).select(*names)
        good = _left_out(good, _KEY, ["order"], TWICE).select(*names)
        own = _left_out(
            good.filter(nw.col("reason").is_null() & ~nw.col("bare")),
            ["id"],
            ["month", "order"],
            SEEN,
        ).select(*names)
        rest = good.filter(~(nw.col("reason").is_null() & ~nw.col("bare")))
        lost = lost.with_columns(
            nw.lit(None).cast(nw.Int32).alias("month"), nw.col("fault").alias("reason")
        ).select(*names)
        self._rows = kept(nw.concat([own, rest, lost], how="vertical"))
        progress(len(snapshots.pieces))
        return counted

    def months(self) -> dict[int, int]:
        """Count what is kept by month."""
        good = self._rows.filter(nw.col("reason").is_null())
        return {r["month"]: r["rows"] for r in lists(_counted(good, "month"))}

    def dropped(self) -> dict[str, int]:
        """Count what is not kept by reason."""
        left = self._rows.filter(~nw.col("reason").is_null())
        return {r["reason"]: r["rows"] for r in lists(_counted(left, "reason"))}

    def hashed(self) -> int:
        """Count what is kept without an id of its own."""
        bare = self._rows.filter(nw.col("reason").is_null() & nw.col("bare"))
        return sum(row["rows"] for row in lists(_counted(bare, "month")))

    def write(
        self, parts: Sequence[Part], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Send each row to its part, and let workers write whole parts."""
        own = nw.when(~nw.col("bare")).then(nw.col("id"))
        bad = self._rows.filter(~nw.col("reason").is_null())
        bad = bad.select("order", own.alias("id"), "reason")
        write_all_dropped(bad, self._pieces, self._out / "dropped")
        times = {part.month: micros_of(part.month) for part in parts}
        good = self._rows.filter(nw.col("reason").is_null())
        good = good.with_columns(_time(times).alias("time"))
        written = write_parts(good, parts, rows.resolve(), _write)
        progress(sum(one["rows"] for one in written))
        return written

    def close(self) -> None:
        """Stop Spark, which removes what it held."""
        self._spark.stop()


def _time(times: dict[int, int]) -> nw.Expr:
    """Return the first moment of each row's month."""
    found = [nw.when(nw.col("month") == month).then(nw.lit(time)) for month, time in times.items()]
    return nw.coalesce(*found).cast(nw.Int64)


def _left_out(frame: Frame, key: Sequence[str], order: Sequence[str], reason: str) -> Frame:
    """Give a reason to all rows of a key but the first of those that have none yet."""
    open_ = nth_of(frame.filter(nw.col("reason").is_null()), key, order)
    closed = frame.filter(~nw.col("reason").is_null())
    again = nw.when(nw.col("nth") > 1).then(nw.lit(reason))
    names = frame.collect_schema().names()
    found = open_.with_columns(again.alias("reason")).select(*names)
    return nw.concat([found, closed.select(*names)], how="vertical")


def _counted(frame: Frame, name: str) -> Frame:
    return frame.group_by(name).agg(nw.len().alias("rows"))


def _pool_rows(pieces: Sequence[Piece], number: int) -> Iterator[Any]:
    first = pieces[number].first
    for frame in pool_frames(pieces[number]):
        rows = frame.collect()
        order = pl.int_range(len(rows), dtype=pl.Int64, eager=True) + first
        first += len(rows)
        bare = rows["id"].is_null()
        held = _some_ids(rows).select(order.alias("order"), bare.alias("bare"), *READ)
        yield from _batches(held)


def _some_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Give ids to those rows that are pairs."""
    good = rows["fault"].is_null()
    found = given_ids(rows.filter(good))["id"]
    return rows.with_columns(rows["id"].scatter(good.arg_true(), found))


def _snapshot_rows(
    pieces: Sequence[Piece], months: Sequence[int | None], number: int
) -> Iterator[Any]:
    for frame in snapshot_frames(pieces[number], months[number]):
        yield from _batches(frame.collect())


def _write(rows: pa.Table, path: Path) -> dict[str, Any]:
    """Write a part, with captions without HTML."""
    captions = cleaned(pl.Series(values=rows["caption"])).to_arrow().cast(pa.string())
    held = rows.set_column(rows.column_names.index("caption"), "caption", captions)
    held = held.append_column("taken", pa.nulls(len(rows), pa.int64()))
    return write_part(held, path, DATED)


def _batches(rows: pl.DataFrame) -> Iterator[Any]:
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = [
        f.with_type(pa.string()) if pa.types.is_large_string(f.type) else f for f in table.schema
    ]
    yield from table.cast(pa.schema(plain)).combine_chunks().to_batches(BATCH)
