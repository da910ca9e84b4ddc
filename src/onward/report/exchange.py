"""The results as one flat table, for other programs: a row per score, or a row per run.

Runs are read one after the other, so that a thousand of them need hardly more memory than one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from onward.errors import OnwardError, unknown
from onward.files import storage, write_atomic
from onward.report.formats import as_text, who
from onward.report.numbers import finite
from onward.report.summary import Summary, method_labels
from onward.results.collect import LeftOut, collect
from onward.results.read import find_folders, read_spec
from onward.results.record import RunRecord
from onward.results.schema import Cost, RunSpec

Rows = Literal["scores", "runs"]
"""What a row is."""

_RUN = {
    "run": pa.string(),
    "benchmark": pa.string(),
    "data": pa.string(),
    "data_digest": pa.string(),
    "task": pa.string(),
    "protocol": pa.string(),
    "recipe": pa.string(),
    "limits": pa.string(),
    "method": pa.string(),
    "label": pa.string(),
    "options": pa.string(),
    "recipe_changes": pa.string(),
    "seed": pa.int64(),
    "complete": pa.bool_(),
}
SCORES = pa.schema(
    {
        **_RUN,
        "learned_upto": pa.int32(),
        "learned_upto_name": pa.string(),
        "seen": pa.int64(),
        "tested_on": pa.int32(),
        "tested_on_name": pa.string(),
        "test": pa.string(),
        "samples": pa.int64(),
        "metric": pa.string(),
        "value": pa.float64(),
    }
)
"""A row per score. ``tested_on`` is empty for a test that belongs to no period. A test between two
calls of learn has the samples ``seen`` until then in place of ``learned_upto``."""

# Rows that are held before they are written.
_BATCH = 10_000


@dataclass(frozen=True)
class Written:
    """What became of it: how many runs and rows are in the file, what is not and why."""

    runs: int
    rows: int
    unfinished: int
    left_out: tuple[LeftOut, ...]


# What was not metered is empty.
_COSTS = {
    name: pa.float64() if field.annotation in (float, float | None) else pa.int64()
    for name, field in Cost.model_fields.items()
    if name != "metered"
}


def write_flat(roots: Sequence[Path], out: Path, rows: Rows = "scores") -> Written:
    """Write the runs below some paths as one flat table.

    Parameters
    ----------
    roots
        Results folders, or single runs' folders.
    out
        A file that ends with ``.parquet`` or ``.csv``.
    rows
        ``"scores"``: one row for every metric of every cell, unfinished runs included as far as
        they are. ``"runs"``: one row for every finished run, with its metrics and its cost.
    """
    kind = out.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise OnwardError(f"expected a file that ends with .parquet or .csv, found {out.name!r}")
    if rows not in ("scores", "runs"):
        raise unknown("kind of rows", rows, ("scores", "runs"), "onward show --help")
    runs = _Runs(roots)
    if rows == "scores":
        batches = _batches(row for record in runs for row in _scores(record, runs.label(record)))
        schema = SCORES
    else:
        found = [_run(record, runs.label(record)) for record in runs if record.complete]
        schema = _schema_of(found)
        batches = iter([pa.Table.from_pylist(found, schema)])
    written = 0

    def fill(file: IO[bytes]) -> None:
        nonlocal written
        writer = pa_csv.CSVWriter if kind == ".csv" else pq.ParquetWriter
        with writer(file, schema) as sink:
            for batch in batches:
                written += len(batch)
                sink.write_table(batch)

    with storage(out):
        write_atomic(out, fill)
    return Written(runs.read, written, runs.unfinished, tuple(runs.left_out))


class _Runs:
    """The runs below some paths, each read when its turn comes, and what became of the others."""

    def __init__(self, roots: Sequence[Path]) -> None:
        # Copies of one run are read together, so that it counts once.
        self._copies: dict[str, list[Path]] = {}
        specs: dict[str, RunSpec] = {}
        folders = {folder.resolve(): folder for root in roots for folder in find_folders(root)}
        for folder in folders.values():
            try:
                spec = read_spec(folder)
            except OnwardError:
                self._copies[str(folder)] = [folder]
                continue
            self._copies.setdefault(spec.hash, []).append(folder)
            specs.setdefault(spec.without_seed(), spec)
        self._labels = method_labels(list(specs.values()))
        self.read = self.unfinished = 0
        self.left_out: list[LeftOut] = []

    def __iter__(self) -> Iterator[RunRecord]:
        for folders in self._copies.values():
            found = collect(folders)
            self.left_out += found.left_out
            for record in found.records:
                self.read += 1
                self.unfinished += not record.complete
                yield record

    def label(self, record: RunRecord) -> str:
        return self._labels[record.spec.without_seed()]


def _about(record: RunRecord, label: str) -> dict[str, Any]:
    spec = record.spec
    return {
        **who(spec, label),
        "run": record.hash,
        "task": spec.task,
        "recipe_changes": as_text(spec.recipe_changes),
        "seed": spec.seed,
        "complete": record.complete,
    }


def _scores(record: RunRecord, label: str) -> Iterator[dict[str, Any]]:
    about, periods = _about(record, label), record.spec.periods
    for score in record.scores:
        where = {
            "learned_upto": score.learned_upto,
            "learned_upto_name": periods[score.learned_upto],
            "tested_on": score.tested_on,
            "tested_on_name": None if score.tested_on is None else periods[score.tested_on],
            "test": score.test,
            "samples": score.samples,
        }
        for name, value in score.scores.items():
            yield {**about, **where, "metric": name, "value": finite(value)}
    for point in record.points:
        for name, value in point.scores.items():
            yield {
                **about,
                "seen": point.seen,
                "test": point.test,
                "metric": name,
                "value": finite(value),
            }


def _run(record: RunRecord, label: str) -> dict[str, Any]:
    alone = Summary(label, (record,))
    cost = (record.cost or Cost()).model_dump(include=set(_COSTS))
    return {
        **_about(record, label),
        **{name: finite(measure.mean) for name, measure in alone.metrics.items()},
        **{f"static_{name}": finite(measure.mean) for name, measure in alone.static.items()},
        **cost,
    }


def _schema_of(rows: Sequence[dict[str, Any]]) -> pa.Schema:
    """Return the columns of all rows: who it was, then metrics, then what it cost."""
    known = {**_RUN, **_COSTS}
    metrics = {name: pa.float64() for row in rows for name in row if name not in known}
    return pa.schema({**_RUN, **metrics, **_COSTS})


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[pa.Table]:
    held: list[dict[str, Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == _BATCH:
            yield pa.Table.from_pylist(held, SCORES)
            held = []
    yield pa.Table.from_pylist(held, SCORES)
