"""First-seen months on Apache Spark: workers read and write as one machine does, Spark joins."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from onward.curate.first_seen import NOWHERE, TWICE, Part, dated, first_month, micros_of, nth_of
from onward.curate.on_spark import BATCH, dropped_writer, lists, run, session
from onward.curate.pair_reading import READ, cleaned, first_order, pool_frames, snapshot_frames
from onward.curate.pair_reading import with_ids as given_ids
from onward.curate.pool_rows import write_part
from onward.curate.reading import Piece
from onward.curate.records import DATED
from onward.curate.rules import SEEN, Frame, parted, with_piece
from onward.curate.snapshots import Snapshots

if TYPE_CHECKING:  # Spark is an extra
    from pyspark.sql import DataFrame

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
        self._read: DataFrame
        self._rows: Frame

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> None:
        """Let workers read pieces."""
        self._pieces = pieces
        self._read = self._mapped(pieces, _pool_reader(pieces), _READ)
        progress(len(pieces))

    def match(
        self, snapshots: Snapshots, progress: Callable[[int], None]
    ) -> dict[int | None, tuple[int, int]]:
        """Join on the texts themselves."""
        reader = _snapshot_reader(snapshots.pieces, snapshots.months)
        seen = nw.from_native(self._mapped(snapshots.pieces, reader, _SEEN))
        counts = seen.group_by("month").agg(
            nw.len().alias("rows"), nw.col("undecoded").cast(nw.Int64).sum().alias("undecoded")
        )
        counted = {row["month"]: (row["rows"], row["undecoded"]) for row in lists(counts)}
        first = first_month(seen.filter(~nw.col("month").is_null()), _KEY)
        rows = nw.from_native(self._read)
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
        self._rows = nw.from_native(_kept(nw.concat([own, rest, lost], how="vertical")))
        progress(len(snapshots.pieces))
        return counted

    def months(self) -> dict[int, int]:
        """Count what is kept by month."""
        kept = self._rows.filter(nw.col("reason").is_null())
        return {r["month"]: r["rows"] for r in lists(_counted(kept, "month"))}

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
        bad = with_piece(bad.select("order", own.alias("id"), "reason"))
        write = dropped_writer(self._pieces, self._out / "dropped")
        run(nw.to_native(bad).groupBy("piece").applyInArrow(write, "`rows` bigint"))
        times = {part.month: micros_of(part.month) for part in parts}
        kept = self._rows.filter(nw.col("reason").is_null())
        kept = kept.with_columns(_time(times).alias("time"))
        sent = nw.to_native(parted(kept, [part.start for part in parts]))
        schema = "`part` int, `rows` bigint, `first` bigint, `last` bigint"
        written = run(sent.groupBy("part").applyInArrow(_writer(parts, rows.resolve()), schema))
        found = {one["part"]: one for one in written.to_pylist()}
        progress(sum(one["rows"] for one in found.values()))
        nothing = {"rows": 0}
        return [found.get(number, nothing) for number in range(len(parts))]

    def close(self) -> None:
        """Stop Spark, which removes what it held."""
        self._spark.stop()

    def _mapped(self, pieces: Sequence[Piece], read: Any, schema: str) -> Any:
        numbers = self._spark.createDataFrame([(n,) for n in range(len(pieces))], "piece bigint")
        return _kept(numbers.repartitionByRange(len(pieces), "piece").mapInArrow(read, schema))


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


def _kept(frame: Any) -> Any:
    from pyspark import StorageLevel

    native = nw.to_native(frame) if isinstance(frame, nw.LazyFrame) else frame
    return native.persist(StorageLevel.DISK_ONLY)


def _pool_reader(pieces: Sequence[Piece]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for number in _numbers(batches):
            first = first_order(pieces[number])
            for frame in pool_frames(pieces[number]):
                rows = frame.collect()
                order = pl.int_range(len(rows), dtype=pl.Int64, eager=True) + first
                first += len(rows)
                bare = rows["id"].is_null()
                held = _some_ids(rows).select(order.alias("order"), bare.alias("bare"), *READ)
                yield from _batches(held)

    return read


def _some_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Give ids to those rows that are pairs."""
    good = rows["fault"].is_null()
    found = given_ids(rows.filter(good))["id"]
    return rows.with_columns(rows["id"].scatter(good.arg_true(), found))


def _snapshot_reader(
    pieces: Sequence[Piece], months: Sequence[int | None]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for number in _numbers(batches):
            for frame in snapshot_frames(pieces[number], months[number]):
                yield from _batches(frame.collect())

    return read


def _writer(parts: Sequence[Part], folder: Path) -> Callable[[Any], Any]:
    def write(rows: Any) -> Any:
        number = rows.column("part")[0].as_py()
        captions = cleaned(pl.Series(values=rows["caption"])).to_arrow().cast(pa.string())
        at = rows.column_names.index("caption")
        held = rows.set_column(at, "caption", captions)
        held = held.append_column("taken", pa.nulls(len(rows), pa.int64()))
        found = write_part(held, np.arange(len(held)), folder / parts[number].path, DATED)
        table = pa.table({"part": [number], **{name: [value] for name, value in found.items()}})
        return table.set_column(0, "part", table["part"].cast(pa.int32()))

    return write


def _numbers(batches: Iterator[Any]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _batches(rows: pl.DataFrame) -> Iterator[Any]:
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = [
        f.with_type(pa.string()) if pa.types.is_large_string(f.type) else f for f in table.schema
    ]
    yield from table.cast(pa.schema(plain)).combine_chunks().to_batches(BATCH)
