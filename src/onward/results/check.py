"""Is a run folder what it says it is? Every score is computed again from the single decisions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from onward.errors import OnwardError
from onward.results import predictions
from onward.results.read import check_checkpoint, check_mark, checkpoints, read_manifest
from onward.results.record import RunRecord, load_record
from onward.results.schema import Manifest, Score
from onward.tasks import TASKS
from onward.types import Rows, tested_periods


@dataclass(frozen=True)
class Finding:
    """What is wrong with one run folder."""

    folder: Path
    problem: str


def check_folder(folder: Path) -> list[Finding]:
    """Return everything that is wrong with a run folder; nothing if all is well.

    The manifest's hashes, the folder's name, the schema, the completeness of every row of the
    score matrix, and each score against the stored decisions.
    """
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            return [
                Finding(folder, "it has no manifest: the run had only just begun. Run it again")
            ]
        for name, expected in manifest.files.items():
            check_mark(folder, name, expected)
        for checkpoint in checkpoints(folder):
            check_checkpoint(checkpoint)
        record = load_record(folder)
        return [Finding(folder, problem) for problem in _problems(folder, record, manifest)]
    except OnwardError as error:
        return [Finding(folder, str(error))]


def _problems(folder: Path, record: RunRecord, manifest: Manifest) -> Iterator[str]:
    if folder.name != record.spec.hash:
        yield f"expected the folder name {record.spec.hash}, as its spec, found {folder.name}"
    if record.spec.task not in TASKS:
        yield f"expected a known task kind, found {record.spec.task!r}"
        return
    yield from _strangers(folder, manifest)
    yield from _missing_cells(record)
    if not manifest.complete:
        yield (
            f"the run is not finished: {len({s.learned_upto for s in record.scores})} of "
            f"{len(record.spec.periods)} periods are tested. Run the same command again"
        )
    yield from _scores_differ(record)


def _strangers(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield what lies in a finished folder and is not committed."""
    if not manifest.complete:
        return
    known = {*manifest.files, "manifest.json", "log.jsonl", ".lock"}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in known and not name.startswith("checkpoint/"):
            yield f"found {name}, which no run wrote"
    for name, expected in manifest.files.items():
        found = (folder / name).stat().st_size
        if found != expected.size:
            yield f"expected {expected.size} bytes in {name}, found {found}: something was added"


def _missing_cells(record: RunRecord) -> Iterator[str]:
    """Yield the cells of tested rows that the protocol has and the scores have not."""
    periods, tests = len(record.spec.periods), record.spec.protocol["tests"]
    there = {(s.learned_upto, s.tested_on) for s in record.scores if s.tested_on is not None}
    rows = range(periods) if record.complete else sorted({s.learned_upto for s in record.scores})
    due = {(i, j) for i in rows for j in tested_periods(tests, i, periods)}
    for i, j in sorted(due - there):
        yield f"expected a score on period {j} after period {i}, found none"
    for i, j in sorted(there - due):
        yield f"found a score on period {j} after period {i}, which this protocol does not test"


def _scores_differ(record: RunRecord) -> Iterator[str]:
    task = TASKS[record.spec.task]
    stored = {(s.learned_upto, s.test, s.tested_on): s for s in record.scores}
    if len(stored) != len(record.scores):
        yield "scores.jsonl has the same cell twice"
    for learned_upto, (table, _) in record.decisions.items():
        target, decision = predictions.judged(table)
        for (test, period), places in _cells(table, together=record.spec.protocol.get("pooled")):
            key = (learned_upto, test, period)
            again = task.score(decision[places], target[places])
            yield from _cell_differs(key, stored.pop(key, None), again, len(places))
    if record.decisions:
        for key in stored:
            yield f"scores.jsonl has the cell {key}, for which no decisions are stored"


def _cells(
    table: pa.Table, *, together: bool | None
) -> Iterator[tuple[tuple[str, int | None], Rows]]:
    """Yield each test of a predictions file with the places of its samples."""
    tests = table.column("test").to_numpy(zero_copy_only=False)
    tested_on = table.column("tested_on").to_numpy()
    for test, period in sorted(set(zip(tests, tested_on.tolist(), strict=True))):
        places = np.flatnonzero((tests == test) & (tested_on == period))
        yield (test, None if period == predictions.STATIC else period), places
    if together:
        yield (predictions.POOLED, None), predictions.pooled(table)


def _cell_differs(
    key: tuple[int, str, int | None], score: Score | None, again: dict[str, float], samples: int
) -> Iterator[str]:
    where = f"after period {key[0]}, test {key[1]}" + ("" if key[2] is None else f" {key[2]}")
    if score is None:
        yield f"{where}: decisions are stored, but scores.jsonl has no such cell"
        return
    if score.samples != samples:
        yield f"{where}: expected {score.samples} decisions, found {samples}"
    plain = {name: None if np.isnan(value) else value for name, value in again.items()}
    if plain != score.scores:
        yield f"{where}: scores.jsonl says {score.scores}, the stored decisions give {plain}"
