"""Moments as metadata have them, turned into microseconds since 1970 in UTC.

Numbers are seconds, milliseconds, microseconds or nanoseconds since 1970: whichever of them lies
between 1970 and 5138. Texts are read as `onward.data.yours_times` reads them. A time without a zone
is taken as UTC.
"""

import numpy as np
import polars as pl
import pyarrow as pa

from onward.data.yours_times import read_times

# Words that people write where there is no time.
_NOTHING = ("", "null", "NULL", "None", "nan", "NaN", "NaT", "N/A", "\\N")
_SECONDS, _PARTS = "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S%.f"
# From here on a number counts a thousandth of what smaller ones count.
_MILLI, _MICRO, _NANO = 10**11, 10**14, 10**17


def texts_of_times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of any type as texts that `micros` understands."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        zoned = pa.timestamp("us", "UTC" if kind.tz else None)
        return column.cast(zoned, safe=False).cast(pa.timestamp("us")).cast(pa.string())
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("us")).cast(pa.string())
    if pa.types.is_floating(kind):
        # Six digits of what is left of a second; a number that is none is a missing one.
        values = np.asarray(column.to_numpy(), np.float64)
        unit = np.select(
            [np.abs(values) < _MILLI, np.abs(values) < _MICRO, np.abs(values) < _NANO],
            [1e6, 1e3, 1.0],
            1e-3,
        )
        known = np.isfinite(values)
        whole = np.round(np.where(known, values * unit, 0)).astype(np.int64)
        moments = pa.array(whole.astype("datetime64[us]"), mask=~known)
        return pa.chunked_array([moments.cast(pa.string())])
    return column.cast(pa.string())


def micros(texts: pl.Series, *, day_first: bool | None = None) -> tuple[pl.Series, pl.Series]:
    """Return microseconds since 1970, null where nothing is understood, and where nothing was said.

    Examples
    --------
    >>> found, unsaid = micros(pl.Series(["1252326896", "2009-09-07 12:34:56.0", "soon", ""]))
    >>> found.to_list(), unsaid.to_list()
    ([1252326896000000, 1252326896000000, None, None], [False, False, False, True])
    """
    unsaid = texts.is_null() | texts.is_in(_NOTHING)
    number = texts.cast(pl.Int64, strict=False)
    # 2009 is a year, and 20090907 is a day.
    size = number.abs()
    dated = size.is_between(1000, 9999) | size.is_between(10**7, 10**8 - 1)
    values = pl.DataFrame({"n": number, "size": size, "dated": dated}).select(
        pl.when(pl.col("dated"))
        .then(None)
        .when(pl.col("size") < _MILLI)
        .then(pl.col("n") * 1_000_000)
        .when(pl.col("size") < _MICRO)
        .then(pl.col("n") * 1_000)
        .when(pl.col("size") < _NANO)
        .then(pl.col("n"))
        .otherwise(pl.col("n") // 1000)
        .alias("time")
    )["time"]
    for more in (_seconds, _parts, lambda rest: _others(rest, day_first=day_first)):
        open_ = values.is_null() & ~unsaid
        if open_.any():
            places = open_.arg_true()
            values = values.scatter(places, more(texts.gather(places)))
    return values, unsaid


def _seconds(texts: pl.Series) -> pl.Series:
    """Read what most files have: whole seconds, with or without ``.0`` behind them."""
    plain = texts.str.slice(19).is_in(["", ".0"])
    held = pl.select(pl.when(plain).then(texts.str.slice(0, 19))).to_series()
    found = held.str.to_datetime(_SECONDS, time_unit="us", strict=False, cache=False)
    return found.cast(pl.Int64)


def _parts(texts: pl.Series) -> pl.Series:
    found = texts.str.to_datetime(_PARTS, time_unit="us", strict=False, cache=False)
    return found.cast(pl.Int64)


def _others(texts: pl.Series, *, day_first: bool | None) -> pl.Series:
    column = pa.chunked_array([texts.to_arrow().cast(pa.string())])
    found = read_times(column, "time", day_first=day_first, strict=False).values
    return pl.Series(found.astype(np.int64)).set(pl.Series(np.isnat(found)), None)
