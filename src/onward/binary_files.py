"""Arrow, parquet and .npy files of users: read, and checked before any value is used.

Arrow trusts the offsets and the texts of a file. A wrong offset is read outside of the file, which
ends the process with a segmentation fault; a text that is not UTF-8 fails far away from its file.
So every table is validated here, once, right after it is read.

The cost: validation reads the offsets of lists, texts and bytes, the indices of dictionaries and
the content of texts. Numbers and the content of byte columns, such as images, are not read, so that
a large file that is mapped into memory stays on disk for the most part. Intermediate files that a
command wrote itself and reads back in the same run are not validated.
"""

import contextlib
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onward.errors import OnwardError

ARROW_ERRORS = (OSError, pa.ArrowException, UnicodeDecodeError)
"""What Arrow raises for a file that is damaged, of another format, or not in UTF-8."""

# numpy evaluates the header of a .npy file as a Python literal, and allocates the shape it finds.
NPY_ERRORS = (
    OSError,
    ValueError,
    EOFError,
    SyntaxError,
    TypeError,
    KeyError,
    OverflowError,
    MemoryError,
    RecursionError,
    tokenize.TokenError,
)
"""What numpy raises for a .npy file that is damaged or of another format."""


def validated(table: pa.Table) -> pa.Table:
    """Return a table whose offsets, indices, texts and names are valid, or raise `ARROW_ERRORS`."""
    for field, column in zip(table.schema, table.columns, strict=True):
        name = field.name
        _decode_names(field.type)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise pa.ArrowInvalid(f"column {name!r}: {error}") from error
    return table


def _decode_names(kind: pa.DataType) -> None:
    """Raise UnicodeDecodeError if the name of a nested field is not UTF-8."""
    for place in range(kind.num_fields):
        nested = kind.field(place)
        str(nested.name)
        _decode_names(nested.type)


def unreadable(path: Path | str, expected: str, error: Exception, fix: str) -> OnwardError:
    """Return the error for a file that is not what was expected.

    Parameters
    ----------
    path
        The file.
    expected
        What it should be, followed by a preposition, such as "votes in".
    error
        What the reader raised.
    fix
        What to do, as a sentence without its full stop.
    """
    if isinstance(error, FileNotFoundError):
        return OnwardError(f"expected {expected} {path}, found no such file. {fix}")
    return OnwardError(
        f"expected {expected} {path}, found what cannot be read as that ({_reason(error)}). {fix}"
    )


def not_utf8(path: Path, error: Exception | str) -> OnwardError:
    """Return the error for a file with text in another encoding."""
    return OnwardError(
        f"expected text in UTF-8 in {path}, found bytes that are not ({_reason(error)}). Save it "
        "with the encoding UTF-8"
    )


def _reason(error: Exception | str) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


@contextlib.contextmanager
def reading_arrow(path: Path, expected: str, fix: str) -> Iterator[None]:
    """Turn what Arrow raises about a file into a message; see `unreadable` for the parameters."""
    try:
        yield
    except ARROW_ERRORS as error:
        # Not of a name that is no UTF-8, or has these letters in it.
        invalid = isinstance(error, pa.ArrowInvalid) and "Invalid UTF8" in str(error)
        if invalid or isinstance(error, UnicodeDecodeError):
            raise not_utf8(path, error) from error
        raise unreadable(path, expected, error, fix) from error


def read_parquet(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    expected: str = "a parquet file at",
    fix: str = "Write it again",
) -> pa.Table:
    """Return a parquet file, or some columns of it, or say what was expected and how to fix it."""
    names = None if columns is None else list(columns)
    with reading_arrow(path, expected, fix):
        _require_columns(pq.read_schema(path), names or [], path, fix)
        return validated(pq.read_table(path, columns=names))


def parquet_tables(
    path: Path,
    rows: int,
    columns: Sequence[str],
    *,
    groups: Sequence[int] | None = None,
    fix: str = "Write it again",
) -> Iterator[pa.Table]:
    """Yield some columns of a parquet file, so many rows at a time, or say how to fix it.

    `groups` are the row groups to read; by default, all.
    """
    names = list(columns)
    with reading_arrow(path, "a parquet file at", fix), pq.ParquetFile(path) as file:
        _require_columns(file.schema_arrow, names, path, fix)
        for batch in file.iter_batches(rows, row_groups=groups, columns=names):
            yield validated(pa.Table.from_batches([batch]))


def _require_columns(schema: pa.Schema, names: Sequence[str], path: Path, fix: str) -> None:
    absent = [name for name in names if name not in schema.names]
    if absent:
        raise OnwardError(
            f"expected a column {absent[0]!r} in {path}, found {', '.join(schema.names)}. {fix}"
        )


def read_arrow_stream(path: Path, fix: str) -> pa.Table:
    """Return an Arrow stream, mapped into memory, or say how to fix it."""
    with reading_arrow(path, "an Arrow stream in", fix), pa.memory_map(str(path)) as source:
        return validated(pa.ipc.open_stream(source).read_all())


def load_npy(
    source: Path | IO[bytes],
    expected: str,
    fix: str,
    *,
    mmap_mode: Literal["r", "c"] | None = None,
) -> NDArray[Any]:
    """Return the array of a .npy file without a pickle, or say how to fix it.

    `expected` names the file if `source` is open already.
    """
    try:
        array: NDArray[Any] = np.load(source, mmap_mode=mmap_mode, allow_pickle=False)
    except NPY_ERRORS as error:
        where = source if isinstance(source, Path) else ""
        raise unreadable(where, expected, error, fix) from error
    return array
