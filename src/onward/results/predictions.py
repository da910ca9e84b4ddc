"""Per-sample predictions: compact parquet from which every score can be computed again."""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.binary_files import validated
from onward.errors import DamagedFolderError
from onward.types import Array, Rows

STATIC = -1
_COLUMNS = {"test", "tested_on", "id", "target", "decision"}
POOLED = "pooled"
"""The name of the score over the tests of all periods together; its decisions are theirs."""


def encode(
    tests: Array,
    tested_on: Array,
    ids: Array,
    targets: Array,
    decisions: Array,
    classes: tuple[str, ...],
) -> bytes:
    """Return the bytes of one predictions file: a row for each sample of each test.

    Its period is `STATIC` for a test that belongs to none. Targets are what the judge knows: a
    class index each, rows of them, -1 where there are fewer, or boxes. Decisions are what the
    learner answered: a class index each, a boolean row over the classes that it knew, a row of
    candidates, or boxes. Both index into `classes`.
    """
    metadata = {"classes": json.dumps(classes)}
    if decisions.ndim == 3:
        metadata["columns"] = str(decisions.shape[2])
    elif decisions.ndim == 2 and decisions.dtype == np.bool_:
        metadata["known"] = str(decisions.shape[1])
        decisions = np.packbits(decisions, axis=1)
    table = pa.table(
        {
            "test": pa.array(tests.astype(str)).dictionary_encode(),
            "tested_on": pa.array(tested_on.astype(np.int32)),
            "id": pa.array(ids.astype(str)),
            "target": _column(targets),
            "decision": _column(decisions),
        }
    ).replace_schema_metadata(metadata)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _column(values: Array) -> pa.Array:
    flat = pa.array(values.reshape(-1))
    width = int(np.prod(values.shape[1:]))
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, width)


def judged(table: pa.Table) -> tuple[Array, Array]:
    """Return targets and decisions as `encode` was given them."""
    target, decision = (_values(table.column(name)) for name in ("target", "decision"))
    metadata = table.schema.metadata or {}
    if b"columns" in metadata:
        columns = int(metadata[b"columns"])
        return _boxes(target, columns), _boxes(decision, columns)
    if b"known" in metadata:
        known = int(metadata[b"known"])
        decision = np.unpackbits(decision, axis=1, count=known).astype(np.bool_)
    return target, decision


def _boxes(values: Array, columns: int) -> Array:
    return values.reshape(len(values), values.shape[1] // columns, columns)


def _values(column: pa.ChunkedArray) -> Array:
    if not pa.types.is_fixed_size_list(column.type):
        return np.asarray(column.to_numpy())
    flat = pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type)
    return np.asarray(flat.to_numpy()).reshape(-1, column.type.list_size)


def pooled_places(samples: Array) -> Rows:
    """Return where each sample stands first, by its row or its id."""
    return np.sort(np.unique(samples, return_index=True)[1])


def pooled(table: pa.Table) -> Rows:
    """Return where the samples of the tests of all periods stand, each sample once."""
    of_periods = np.flatnonzero(table.column("tested_on").to_numpy() != STATIC)
    ids = table.column("id").to_numpy(zero_copy_only=False)[of_periods]
    return of_periods[pooled_places(ids)]


def cells(table: pa.Table) -> Iterator[tuple[str, int | None, Rows]]:
    """Yield each test of a predictions file: its name, its period if any, where its samples are."""
    tests = table.column("test").to_numpy(zero_copy_only=False)
    tested_on = table.column("tested_on").to_numpy()
    for test, period in sorted(set(zip(tests.tolist(), tested_on.tolist(), strict=True))):
        places = np.flatnonzero((tests == test) & (tested_on == period))
        yield test, None if period == STATIC else period, places


def decode(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Read one predictions file: the table, and the classes it indexes into."""
    try:
        table = validated(pq.read_table(path))
        missing = _COLUMNS - set(table.column_names)
        if missing:
            raise KeyError(f"no column {min(missing)}")
        if any(column.null_count for column in table.columns):
            raise ValueError("empty values")
        return table, tuple(map(str, json.loads(table.schema.metadata[b"classes"])))
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DamagedFolderError(
            f"expected stored predictions in {path}, found a file that cannot be read ({error}); "
            "move the run folder away and run again"
        ) from error


class Stored(Mapping[int, tuple[pa.Table, tuple[str, ...]]]):
    """The decisions of a run folder by period, each read when it is asked for and not kept.

    A report over a thousand runs asks few of them for their decisions.
    """

    def __init__(self, files: Mapping[int, Path]) -> None:
        self._files = dict(sorted(files.items()))

    def __getitem__(self, period: int) -> tuple[pa.Table, tuple[str, ...]]:
        return decode(self._files[period])

    def __iter__(self) -> Iterator[int]:
        return iter(self._files)

    def __contains__(self, period: object) -> bool:
        return period in self._files

    def __len__(self) -> int:
        return len(self._files)
