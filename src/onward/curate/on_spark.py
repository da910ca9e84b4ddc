"""A pool on Apache Spark, for metadata that outgrow one machine.

Workers read pieces and write parts with the code that one machine uses; what lies between is
Spark's. So each worker needs Onward, and sees the files under the same paths.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from onward.curate import rules
from onward.curate.cutting import Cut, Key
from onward.curate.engines import Tally
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
        self._pieces: Sequence[Piece] = ()
        self._judged: DataFrame
        self._kept: rules.Frame

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> Tally:
        """Let workers read pieces, and keep what they read on their disks."""
        from pyspark import StorageLevel

        self._pieces = pieces
        numbers = self._spark.createDataFrame([(p.number,) for p in pieces], f"{_PIECE} bigint")
        read = numbers.repartitionByRange(len(pieces), _PIECE).mapInArrow(_reader(pieces), _SCHEMA)
        judged = rules.judged(nw.from_native(read), self._limits)
        self._judged = nw.to_native(judged).persist(StorageLevel.DISK_ONLY)
        held = nw.from_native(self._judged)
        tally = Tally()
        tally.add(lists(rules.counted(held)))
        progress(len(pieces))
        bad = held.filter(~nw.col("reason").is_null()).select("order", "id", "reason")
        native = nw.to_native(rules.with_piece(bad))
        write = dropped_writer(pieces, self._out / "dropped")
        run(native.groupBy(_PIECE).applyInArrow(write, "`rows` bigint"))
        good = held.filter(nw.col("reason").is_null()).select(*rules.KEPT)
        numbered = nw.to_native(rules.nth_of_id(good)).persist(StorageLevel.DISK_ONLY)
        self._kept = nw.from_native(numbered)
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
        parted = nw.to_native(rules.parted(self._kept, [cut.start for cut in cuts]))
        write = _part_writer(cuts, rows.resolve())
        schema = "`part` int, `rows` bigint, `first` bigint, `last` bigint"
        written = run(parted.groupBy("part").applyInArrow(write, schema)).to_pylist()
        found = {one["part"]: one for one in written}
        progress(sum(cut.rows for cut in cuts))
        nothing = {"rows": 0}
        return [found.get(number, nothing) for number in range(len(cuts))]

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


def _reader(pieces: Sequence[Piece]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for table in pieces[number].tables():
                    yield from table.combine_chunks().to_batches(BATCH)

    return read


def dropped_writer(pieces: Sequence[Piece], folder: Path) -> Callable[[Any], Any]:
    """Return what writes down the dropped rows of one piece."""

    def write(rows: Any) -> Any:
        piece = pieces[rows.column(_PIECE)[0].as_py()]
        rows = rows.sort_by("order")
        path = folder / f"{piece.name}.parquet"
        write_dropped(rows["id"], rows["reason"], str(piece.source), path)
        return pa.table({"rows": [len(rows)]})

    return write


def _part_writer(cuts: Sequence[Cut], folder: Path) -> Callable[[Any], Any]:
    def write(rows: Any) -> Any:
        number = rows.column("part")[0].as_py()
        found = write_part(rows, np.arange(len(rows)), folder / cuts[number].path)
        table = pa.table({"part": [number], **{name: [value] for name, value in found.items()}})
        return table.set_column(0, "part", table["part"].cast(pa.int32()))

    return write


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
