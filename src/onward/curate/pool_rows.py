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


def write_part(
    rows: pa.Table, path: Path, schema: pa.Schema = POOL, chosen: Array | None = None
) -> dict[str, Any]:
    """Write all rows, or the chosen ones, in order of time and id.

    Returns how many there are, and the first and the last moment.
    """
    chosen = np.arange(len(rows)) if chosen is None else chosen
    rows = rows.take(chosen[_in_order(rows.select(["time", "id"]).take(chosen))])
    columns = {
        name: rows.column(name).cast(MOMENT) if name in ("time", "taken") else rows.column(name)
        for name in schema.names
    }
    times = rows.column("time")
    table = pa.table(columns, schema=schema)
    write_rows(table, path)
    return {"rows": len(rows), "first": times[0].as_py(), "last": times[-1].as_py()}


def write_dropped(ids: Any, reasons: Any, source: str, path: Path) -> None:
    """Write down rows that were not kept: columns of texts of any kind."""
    columns = {"source": [source] * len(ids), "id": ids, "reason": reasons}
    write_rows(pa.table(columns).cast(DROPPED), path)


def write_rows(table: pa.Table, path: Path) -> None:
    """Write rows as they are, whole or not at all."""
    write_atomic(path, lambda file: _write(table, file))


def _write(table: pa.Table, file: Any) -> None:
    # Dictionaries pay for themselves in few of these columns, and cost a third of the time.
    repeated = ("licence", "licence_url", "source", "reason")
    dictionary = [name for name in repeated if name in table.column_names]
    searched = [name for name in ("id", "time") if name in table.column_names]
    pq.write_table(
        table,
        file,
        compression="zstd",
        compression_level=1,
        use_dictionary=dictionary,
        write_statistics=searched,
    )


def _in_order(keys: pa.Table) -> Array:
    """Return the order of time, then id: most rows share their time with none."""
    times = keys.column("time").to_numpy()
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    same = sorted_times[1:] == sorted_times[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        held = keys.take(order[tied])
        frame = pl.DataFrame(pl.from_arrow(held)).with_columns(row=pl.lit(order[tied]))
        order[tied] = frame.sort("time", "id")["row"].to_numpy()
    return np.asarray(order)
