"""Assigned dates beside true ones, where some are known: TiC-CLIP's Figure 16 for your pool."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from onward.curate.polars_files import reading_polars
from onward.data.yours_files import read_file
from onward.data.yours_times import read_times
from onward.errors import OnwardError
from onward.files import write_atomic
from onward.metrics.rank_correlation import spearman
from onward.types import Array

PICTURE = "known.png"
_KEYS = ("uid", "id", "url")
_DATES = ("date", "time", "true_date", "taken")
_YEAR = 12


def compare_dates(dated: Path, known: Path) -> dict[str, Any]:
    """Compare a folder of ``onward curate date`` with true dates, and draw both.

    Parameters
    ----------
    dated
        The folder; the picture is written into it.
    known
        A table with ``uid``, ``id`` or ``url``, and ``date``.
    """
    true = _true(known)
    key = true.columns[0]
    rows = pl.scan_parquet(dated / "rows" / "*" / "*.parquet").select(key, "time")
    with reading_polars(dated, "dated pairs in"):
        found = rows.join(true.lazy(), on=key, how="inner").collect()
    if not len(found):
        raise OnwardError(
            f"expected true dates of pairs in {dated}, found none of them in {known} by {key}"
        )
    assigned = _months(found["time"])
    real = _months(found["date"])
    path = dated / PICTURE
    from onward.report.dates_picture import assigned_and_true
    from onward.report.style import to_png

    write_atomic(path, to_png(assigned_and_true(real, assigned)))
    return {**agreement(real, assigned), "of": len(true), "picture": str(path)}


def agreement(real: Array, assigned: Array) -> dict[str, Any]:
    """Say how well assigned months agree with true ones; no correlation where all are one month.

    Examples
    --------
    >>> found = agreement(np.array([0, 10, 20, 30]), np.array([1, 10, 22, 60]))
    >>> found["spearman"], found["median_lag_months"], found["within_a_year"]
    (1.0, 1.5, 0.75)
    """
    lag, together = assigned - real, spearman(real, assigned)
    return {
        "compared": len(lag),
        "spearman": None if math.isnan(together) else round(together, 6),
        "median_lag_months": float(np.median(lag)),
        "within_a_year": float((np.abs(lag) <= _YEAR).mean()),
        "before_its_true_date": int((lag < 0).sum()),
    }


def _true(path: Path) -> pl.DataFrame:
    rows = read_file(path).rows
    names = rows.column_names
    key = next((name for name in _KEYS if name in names), None)
    when = next((name for name in _DATES if name in names), None)
    if key is None or when is None:
        raise OnwardError(
            f"expected a column uid, id or url and a column date in {path}, found "
            f"{', '.join(names)}"
        )
    times = read_times(rows.column(when), when).values.astype("datetime64[us]")
    told = [str(value) for value in rows.column(key).to_pylist()]
    held = pl.DataFrame({"url" if key == "url" else "id": told, "date": times})
    return held.drop_nulls().unique(held.columns[0], keep="first", maintain_order=True)


def _months(moments: pl.Series) -> Array:
    plain = moments.dt.replace_time_zone(None).to_numpy().astype("datetime64[M]")
    return np.asarray(plain.astype(np.int64))
