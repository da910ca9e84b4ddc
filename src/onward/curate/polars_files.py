"""Parquet files of users, read by polars, or a message that says what is wrong with them."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from onward.binary_files import not_utf8, unreadable

_AGAIN = "Write it again"


@contextlib.contextmanager
def reading_polars(path: Path, expected: str = "a parquet file at") -> Iterator[None]:
    """Turn what polars raises about a file into a message; polars checks offsets and texts."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        if isinstance(error, pl.exceptions.ComputeError) and "UTF-8" in str(error):
            raise not_utf8(path, error) from error
        raise unreadable(path, expected, error, _AGAIN) from error


def read_frame(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Return some columns of a parquet file."""
    with reading_polars(path):
        return pl.read_parquet(path, columns=list(columns))
