"""What curation writes down: tables, lists and plain data, each there whole or not at all."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onward.files import write_atomic


def write_table(path: Path, table: pa.Table) -> None:
    """Write a parquet file."""
    write_atomic(path, partial(pq.write_table, table))


def csv_of(rows: Iterable[Sequence[Any]]) -> bytes:
    r"""Return a CSV file, whose first row names its columns.

    Examples
    --------
    >>> csv_of([("id", "reason"), ("fox, red", "no bytes")])
    b'id,reason\n"fox, red",no bytes\n'
    """
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows(rows)
    return sink.getvalue().encode("utf-8", "replace")


def json_of(value: Any) -> bytes:
    r"""Return a JSON file.

    Examples
    --------
    >>> json_of({"name": "café"}).decode()
    '{\n "name": "café"\n}\n'
    """
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
