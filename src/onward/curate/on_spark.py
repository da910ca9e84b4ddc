"""A pool on Apache Spark, for metadata that outgrow one machine.

Workers read pieces and write parts with the code that one machine uses; what lies between is
Spark's. So each worker needs Onward, and sees the files under the same paths.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from onward.curate import rules
from onward.curate.cutting import Cut, Key
from onward.curate.engines import Tally
from onward.curate.first_seen import Part
from onward.curate.pool_rows import write_dropped, write_part
from onward.curate.reading import READ, Piece
from onward.errors import OnwardError

if TYPE_CHECKING:  # Spark is an extra
    from pyspark.sql import DataFrame, SparkSession

BATCH = 10_000
"""How many rows a worker hands over at a time."""
_TYPES = {pa.int64(): "bigint", pa.bool_(): "boolean", pa.string(): "string"}
_SCHEMA = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in READ)
_PIECE = "piece"


class OnSpark:
    """See `onward.curate.engines.Engine`."""

    def __init__(self, limits: rules.Limits, out: Path, master: str | None) -> None:
        self._limits, self._out = limits, out.resolve()
        self._spark = session(master)
        self._kept: rules.Frame

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> Tally:
        """Let workers read pieces, and keep what they read on their disks."""
        read = mapped(self._spark, len(pieces), partial(_batches, pieces), _SCHEMA)
        held = kept(rules.judged(read, self._limits))
        tally = Tally()
        tally.add(lists(rules.counted(held)))
        progress(len(pieces))
        bad = held.filter(~nw.col("reason").is_null()).select("order", "id", "reason")
        write_all_dropped(bad, pieces, self._out / "dropped")
        good = held.filter(nw.col("reason").is_null()).select(*rules.KEPT)
        self._kept = kept(rules.nth_of_id(good))
        return tally

    def repeats(self) -> pa.Table:
        """Take the first row of each id: one shuffle, and no window over all rows."""
        again = self._kept.filter(nw.col("nth") > 1).select("order", "id").sort("order")
        self._kept = self._kept.filter(nw.col("nth") == 1)
        schema = pa.schema([("order", pa.int64()), ("id", pa.string())])
        return run(nw.to_native(again)).cast(schema)

    def days(self) -> dict[int, int]:
        """Count by day."""
        return {row["day"]: row["rows"] for row in lists(rules.per_day(self._kept))}

    def keys_of_day(self, day: int) -> Sequence[Key]:
        """Look at one day again."""
        found = lists(rules.keys_of_day(self._kept, day).sort("time", "id"))
        return [(row["time"], row["id"]) for row in found]

    def write(
        self, cuts: Sequence[Cut], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Send each row to its part, and let workers write whole parts."""
        written = write_parts(self._kept, cuts, rows.resolve(), write_part)
        progress(sum(cut.rows for cut in cuts))
        return written

    def close(self) -> None:
        """Stop Spark, which removes what it held."""
        self._spark.stop()


def session(master: str | None) -> "SparkSession":
    """Return Spark, or say why there is none."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("onward curate pool")
    if master is not None:
        builder = builder.master(master)
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    # Workers on this machine are to be like this process; a cluster says itself what they are.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        raise OnwardError(
            f"expected Spark at {master or 'the master of its configuration'}, found none "
            f"({str(error).splitlines()[0]}). It needs Java 17 or later"
        ) from error
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def mapped(
    spark: "SparkSession", pieces: int, read: Callable[[int], Iterator[Any]], schema: str
) -> rules.Frame:
    """Let workers read so many pieces, by their numbers."""

    def many(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(number)

    numbers = spark.createDataFrame([(number,) for number in range(pieces)], f"{_PIECE} bigint")
    rows = numbers.repartitionByRange(pieces, _PIECE).mapInArrow(many, schema)
    found: rules.Frame = nw.from_native(rows)
    return found


def kept(frame: rules.Frame) -> rules.Frame:
    """Have workers keep what they made on their disks."""
    from pyspark import StorageLevel

    held: rules.Frame = nw.from_native(nw.to_native(frame).persist(StorageLevel.DISK_ONLY))
    return held


def write_all_dropped(bad: rules.Frame, pieces: Sequence[Piece], folder: Path) -> None:
    """Let workers write down dropped rows, with ``order``, ``id`` and ``reason``, by piece."""

    def write(rows: Any) -> Any:
        piece = pieces[rows.column(_PIECE)[0].as_py()]
        rows = rows.sort_by("order")
        path = folder / f"{piece.name}.parquet"
        write_dropped(rows["id"], rows["reason"], str(piece.source), path)
        return pa.table({"rows": [len(rows)]})

    native = nw.to_native(rules.with_piece(bad))
    run(native.groupBy(_PIECE).applyInArrow(write, "`rows` bigint"))


def write_parts(
    frame: rules.Frame,
    parts: Sequence[Cut] | Sequence[Part],
    folder: Path,
    write_one: Callable[[pa.Table, Path], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Send each row to its part, and let workers write whole parts; return what they say."""

    def write(rows: Any) -> Any:
        number = rows.column("part")[0].as_py()
        found = write_one(rows, folder / parts[number].path)
        table = pa.table({"part": [number], **{name: [value] for name, value in found.items()}})
        return table.set_column(0, "part", table["part"].cast(pa.int32()))

    sent = nw.to_native(rules.parted(frame, [part.start for part in parts]))
    schema = "`part` int, `rows` bigint, `first` bigint, `last` bigint"
    written = run(sent.groupBy("part").applyInArrow(write, schema)).to_pylist()
    by_part = {one["part"]: one for one in written}
    return [by_part.get(number, {"rows": 0}) for number in range(len(parts))]


def _batches(pieces: Sequence[Piece], number: int) -> Iterator[Any]:
    for table in pieces[number].tables():
        yield from table.combine_chunks().to_batches(BATCH)


def lists(frame: rules.Frame) -> list[dict[str, Any]]:
    """Return the rows of a small frame."""
    return list(run(nw.to_native(frame)).to_pylist())


def run(frame: "DataFrame") -> pa.Table:
    """Let Spark do its work; a worker's message for people is ours again."""
    from pyspark.errors import PySparkException

    try:
        return frame.toArrow()
    except PySparkException as error:
        lines = [line.partition(f"{OnwardError.__name__}: ")[2] for line in str(error).split("\n")]
        told = next((line for line in lines if line), None)
        if told is None:
            raise
        raise OnwardError(told) from error
