"""Rows of metadata, read in pieces that any process can read on its own.

A piece is a range of bytes, some row groups, or a whole file where no part of it can be read alone
(compressed texts, and texts in quotes, which may go over several lines). One process reads piece
after piece, Spark lets each of its workers read some: the rows are the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from onward.curate.blocks import MARKER, STATUS, Faults, Texts, blocks, goes_over_lines, row_groups
from onward.curate.metadata import Layout
from onward.curate.moments import micros, texts_of_times
from onward.curate.records import POOL
from onward.curate.rules import ROW_BITS
from onward.curate.url_texts import decoded
from onward.errors import OnwardError

TEXTS = tuple(name for name in POOL.names if name not in ("time", "taken"))
READ = pa.schema(
    [
        ("order", pa.int64()),
        ("time", pa.int64()),
        ("taken", pa.int64()),
        ("time_unsaid", pa.bool_()),
        ("taken_unsaid", pa.bool_()),
        ("fault", pa.string()),
        *((name, pa.string()) for name in TEXTS),
    ]
)
"""A row as it was read: its place among all rows, moments in microseconds, and what is wrong."""

VIDEO, NO_MARKER = "a video, not a photo", "neither a photo nor a video"
NOT_FETCHED = "img2dataset could not download it"
PIECE_BYTES = 64 << 20
_ENCODED = ("author", "title", "caption")


@dataclass(frozen=True)
class Piece:
    """A part of a file: bytes, or row groups of parquet, from `start` to before `stop`."""

    number: int
    source: Path
    layout: Layout
    start: int
    stop: int
    day_first: bool | None = None

    @property
    def name(self) -> str:
        """Names sort as pieces do."""
        return f"{self.number:06d}"

    @property
    def first(self) -> int:
        """The place of its first row among all rows."""
        return self.number << ROW_BITS

    def tables(self) -> Iterator[pa.Table]:
        """Yield rows with `READ`, some at a time."""
        first = self.first
        try:
            for texts, faults in blocks(self.source, self.layout, self.start, self.stop):
                read = _understood(texts, self.layout, day_first=self.day_first)
                if faults:
                    read = pa.concat_tables([read, _faulty(faults)])
                order = pa.array(np.arange(first, first + len(read), dtype=np.int64))
                first += len(read)
                yield read.set_column(0, "order", order)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise OnwardError(
                f"expected metadata in {self.source}, found what cannot be read "
                f"({str(error).splitlines()[0]})"
            ) from error


def pieces_of(
    files: Sequence[tuple[Path, Layout]],
    *,
    day_first: bool | None = None,
    size: int = PIECE_BYTES,
) -> list[Piece]:
    """Cut files into pieces, numbered through all of them."""
    pieces: list[Piece] = []
    for path, layout in files:
        if layout.kind == "parquet":
            stops = row_groups(path, size)
        else:
            whole = path.stat().st_size
            alone = layout.packed or goes_over_lines(layout)
            stops = [whole] if alone else [*range(size, whole, size), whole]
        for start, stop in zip([0, *stops], stops, strict=False):
            pieces.append(Piece(len(pieces), path, layout, start, stop, day_first))
    return pieces


def _understood(texts: Texts, layout: Layout, *, day_first: bool | None) -> pa.Table:
    """Turn columns of texts into moments, and say what is wrong with a row."""
    rows = len(texts["id"])
    held: dict[str, Any] = {}
    for name in ("time", "taken"):
        if name in texts:
            said = pl.Series(values=texts_of_times(texts[name])).str.strip_chars()
            known, unsaid = micros(said, day_first=day_first)
            held[name], held[f"{name}_unsaid"] = known.to_arrow(), unsaid.to_arrow()
        else:
            held[name] = pa.nulls(rows, pa.int64())
            held[f"{name}_unsaid"] = pa.array(np.ones(rows, np.bool_))
    for name in TEXTS:
        if name not in texts:
            held[name] = pa.nulls(rows, pa.string())
        elif layout.format == "yfcc" and name in _ENCODED:
            held[name] = decoded(texts[name])
        else:
            held[name] = texts[name].cast(pa.string())
    held["fault"] = _fault(texts, layout, rows)
    held["order"] = pa.nulls(rows, pa.int64())
    return pa.table([held[name] for name in READ.names], schema=READ)


def _fault(texts: Texts, layout: Layout, rows: int) -> Any:
    if layout.format == "yfcc":
        kind = pc.fill_null(texts[MARKER], "")
        other = pc.if_else(pc.equal(kind, "0"), None, NO_MARKER)
        return pc.if_else(pc.equal(kind, "1"), VIDEO, other).cast(pa.string())
    if layout.format == "img2dataset":
        fetched = pc.fill_null(pc.equal(texts[STATUS].cast(pa.string()), "success"), False)
        return pc.if_else(fetched, pa.scalar(None, pa.string()), NOT_FETCHED)
    return pa.nulls(rows, pa.string())


def _faulty(faults: Faults) -> pa.Table:
    rows = len(faults)
    held = {
        "id": pa.array([one[0] for one in faults], pa.string()),
        "fault": pa.array([one[1] for one in faults], pa.string()),
        "time_unsaid": pa.array(np.ones(rows, np.bool_)),
        "taken_unsaid": pa.array(np.ones(rows, np.bool_)),
    }
    columns = [held.get(field.name, pa.nulls(rows, field.type)) for field in READ]
    return pa.table(columns, schema=READ)
