"""Rows of a pool as they lie on disk: in order of time and id, in small files."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from onward.curate.records import DROPPED, MOMENT, POOL
from onward.files import write_atomic
from onward.table import Array


def write_part(rows: pa.Table, path: Path) -> dict[str, Any]:
    """Write rows in their order; return how many there are, and the first and the last moment."""
    rows = rows.take(_in_order(rows))
    columns = {
        name: rows.column(name).cast(MOMENT) if name in ("time", "taken") else rows.column(name)
        for name in POOL.names
    }
    times = rows.column("time")
    table = pa.table(columns, schema=POOL)
    write_atomic(path, lambda file: _write(table, file))
    return {"rows": len(rows), "first": times[0].as_py(), "last": times[-1].as_py()}


def write_dropped(ids: pa.ChunkedArray, reasons: Any, source: str, path: Path) -> None:
    """Write down rows that were not kept."""
    rows = len(ids)
    table = pa.table([pa.array([source] * rows, pa.string()), ids, reasons], schema=DROPPED)
    write_atomic(path, lambda file: _write(table, file))


def _write(table: pa.Table, file: Any) -> None:
    # Dictionaries pay for themselves in few of these columns, and cost a third of the time.
    repeated = [name for name in ("licence", "licence_url", "source", "reason")]
    dictionary = [name for name in repeated if name in table.column_names]
    pq.write_table(
        table, file, compression="zstd", compression_level=1, use_dictionary=dictionary
    )


def _in_order(rows: pa.Table) -> Array:
    """Return the order of time, then id: most rows share their time with none."""
    times = rows.column("time").to_numpy()
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    same = sorted_times[1:] == sorted_times[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        held = rows.select(["time", "id"]).take(order[tied])
        frame = pl.DataFrame(pl.from_arrow(held)).with_columns(row=pl.lit(order[tied]))
        order[tied] = frame.sort("time", "id")["row"].to_numpy()
    return np.asarray(order)
