"""Is a run folder what it says it is? Every score is computed again from the single decisions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onward.errors import DamagedFolderError, OnwardError, first_few
from onward.results.check_rules import Rules, broken_rules
from onward.results.folder import TRACEBACK
from onward.results.keys import Key, Keys, known_keys, named_test
from onward.results.predictions import POOLED
from onward.results.read import (
    check_checkpoint,
    check_mark,
    checkpoints,
    missing_tests,
    read_manifest,
    read_progress,
    read_stored_spec,
)
from onward.results.recomputed import Cell, Recomputed, recomputed
from onward.results.record import RunRecord, load_record
from onward.results.schema import Manifest, RunSpec, Score
from onward.results.training import TRAINING
from onward.tasks import TASKS
from onward.types import PERIOD, tested_periods

_WRITTEN = re.compile(
    r"(spec|env|cost)\.json|(scores|curve|resumed)\.jsonl|predictions/([0-9]{3}|[1-9][0-9]{3,})\.parquet"
)
# Beside checkpoints, what loggers write (`onward.loggers`).
_FOLDERS = ("checkpoint/", "tensorboard/", "wandb/")
# So many tests are named one by one; where more of them are wrong, all have one reason.
_EACH = 3
_ROUNDING = 1e-12
Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Finding:
    """What is wrong with one run folder."""

    folder: Path
    problem: str


@dataclass(frozen=True)
class CheckedRun:
    """What a look at one run folder found.

    Parameters
    ----------
    folder
        The folder.
    problems
        What is wrong with it.
    spec
        What was asked; None where it cannot be read.
    tests
        The hash of each test, as the stored decisions have it.
    answers
        A hash of all decisions; None where none were kept.
    vouched
        Whether a key says that these tests are what they must be.
    marks
        A byte of each decision, see `onward.results.recomputed.Recomputed`.
    resumed
        What differed when it was resumed elsewhere, in words.
    """

    folder: Path
    problems: tuple[str, ...]
    spec: RunSpec | None = None
    tests: Key = field(default_factory=dict)
    answers: str | None = None
    vouched: bool = False
    marks: bytes = b""
    resumed: tuple[str, ...] = ()


def check_folder(
    folder: Path, keys: Keys | None = None, rules: Rules | None = None
) -> list[Finding]:
    """Return everything that is wrong with a run folder; nothing if all is well.

    The manifest's hashes, the folder's name, the schema, the completeness of every row of the
    score matrix, the budget, each score against the stored decisions, and what was tested against
    its key.

    Parameters
    ----------
    folder
        The run's own folder.
    keys
        By default those that the package brings.
    rules
        What protocols say, see `onward.benchmarks.rules`; without them, the spec's word is taken.
    """
    return [Finding(folder, problem) for problem in check_run(folder, keys, rules).problems]


def check_run(folder: Path, keys: Keys | None = None, rules: Rules | None = None) -> CheckedRun:
    """Return what a look at one run folder finds, see `check_folder`."""
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            begun = "it has no manifest: the run had only just begun. Run it again"
            return CheckedRun(folder, (begun,))
        for name, expected in manifest.files.items():
            check_mark(folder, name, expected)
        for checkpoint in checkpoints(folder):
            check_checkpoint(checkpoint)
        record = load_record(folder)
        resumed = tuple(record.changed_on_resume)
    except OnwardError as error:
        return CheckedRun(folder, (str(error),))
    spec = record.spec
    problems = [
        *_folder_differs(folder, read_stored_spec(folder), manifest),
        *broken_rules(record, rules or {}),
        *_checkpoint_ahead(record),
    ]
    if not manifest.complete:
        done = f"{len({s.learned_upto for s in record.scores})} of {len(spec.periods)} periods"
        advice = "Run the same command again"
        if (folder / TRACEBACK).is_file():
            advice = (
                f"It failed, see {TRACEBACK} there. {advice}; if you have changed the file of its "
                "method since then, that is another run: delete this folder"
            )
        problems.append(f"the run is not finished: {done} are tested. {advice}")
    if spec.task not in TASKS:
        problems.append(f"expected a known task kind, found {spec.task!r}")
        return CheckedRun(folder, tuple(problems), spec)
    try:
        again = recomputed(record)
    except DamagedFolderError as error:
        return CheckedRun(folder, (*problems, str(error)), spec)
    keys = known_keys() if keys is None else keys
    key = keys.find(spec)
    vouched = again.key == key or keys.vouches(spec, again.key)
    if key is None and not vouched and manifest.complete and keys.expects(spec):
        problems.append(
            f"targets cannot be vouched for: keys of {spec.benchmark} on {spec.data}, protocol "
            f"{spec.protocol['name']}, seed {spec.seed} are known, and none has these samples and "
            "targets. If they are cut in a way of their own, make a key of it, with onward data "
            "key, and check against it: --key key.json"
        )
    problems += [
        *keys.misnamed(spec),
        *_missing_cells(record, key or again.key),
        *_scores_differ(record, again),
        *_curve_differs(record, again),
        *_tests_differ(again, key),
    ]
    answers = again.answers if record.decisions else None
    return CheckedRun(
        folder, tuple(problems), spec, again.key, answers, vouched, again.marks, resumed
    )


def _folder_differs(folder: Path, spec: RunSpec, manifest: Manifest) -> Iterator[str]:
    if folder.name not in (spec.hash, spec.first_hash):
        yield f"expected the folder name {spec.hash}, as its spec, found {folder.name}"
    if spec.seed < 0:
        yield f"expected a seed of 0 or more, found {spec.seed}"
    for name in manifest.files:
        if not _WRITTEN.fullmatch(name):
            yield f"manifest.json lists {name}, which no run writes"
    for name in ("spec.json", "env.json", *(["cost.json"] if manifest.complete else [])):
        if name not in manifest.files:
            yield f"expected {name} in manifest.json, found none"
    if not manifest.complete:
        return
    known = {*manifest.files, "manifest.json", "log.jsonl", TRAINING, "metrics.csv", ".lock"}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in known and not name.startswith(_FOLDERS):
            yield f"found {name}, which no run wrote"
    for name, expected in manifest.files.items():
        found = (folder / name).stat().st_size
        if found != expected.size:
            yield f"expected {expected.size} bytes in {name}, found {found}: something was added"


def _checkpoint_ahead(record: RunRecord) -> Iterator[str]:
    """Yield the tests that are missing though a checkpoint holds weights of a later moment."""
    if record.path is None or record.complete:
        return
    there = {score.learned_upto for score in record.scores}
    for checkpoint in checkpoints(record.path)[-1:]:
        progress = read_progress(checkpoint)
        for row in _tested_rows(record.spec, range(progress.periods_before)):
            if row not in there:
                yield missing_tests(record.path, f"period {row}", progress)


def _tested_rows(spec: RunSpec, rows: Iterable[int]) -> list[int]:
    """Return the periods after which the protocol tests anything."""
    if spec.protocol["tests"] == "last":  # before everything is learned, nothing is
        rows = [row for row in rows if row + 1 == len(spec.periods)]
    return [row for row in rows if row >= spec.label_delay]  # nor before the first labels


def _missing_cells(record: RunRecord, key: Key) -> Iterator[str]:
    """Yield the cells of tested rows that the protocol has and the scores have not."""
    spec, periods = record.spec, len(record.spec.periods)
    tests, there = spec.protocol["tests"], {_cell(score) for score in record.scores}
    names = {(test, period) for _, test, period in there} | {named_test(name) for name in key}
    names |= {(PERIOD, period) for period in range(periods)} if tests != "static" else set()
    if spec.protocol.get("pooled"):
        names.add((POOLED, None))
    rows = range(periods) if record.complete else sorted({i for i, _, _ in there})
    due = {
        (i, test, period)
        for i in _tested_rows(spec, rows)
        for test, period in names
        if period is None or period in tested_periods(tests, i, periods)
    }
    for cell in sorted(due - there, key=str):
        yield f"expected a score {_where(cell)}, found none"
    for cell in sorted(there - due, key=str):
        yield f"found a score {_where(cell)}, which this protocol does not test"


def _scores_differ(record: RunRecord, again: Recomputed) -> Iterator[str]:
    if not record.decisions:
        if record.scores:
            yield (
                "it keeps no predictions, so that its scores cannot be computed again. Run it "
                "without --no-predictions"
            )
        return
    told = {_cell(score): score for score in record.scores}
    if len(told) != len(record.scores):
        yield "scores.jsonl has the same cell twice"
    for cell, (scores, samples) in again.scores.items():
        if cell not in told:
            yield f"decisions are stored {_where(cell)}, but scores.jsonl has no such cell"
            continue
        if told[cell].samples != samples:
            yield f"{_where(cell)}: expected {told[cell].samples} decisions, found {samples}"
        if not _same(told[cell].scores, scores):
            yield (
                f"{_where(cell)}: scores.jsonl says {told[cell].scores}, the stored decisions "
                f"give {scores}"
            )
    for cell in sorted(told.keys() - again.scores.keys(), key=str):
        # A test without samples has neither a decision nor a score.
        if told[cell].samples or any(value is not None for value in told[cell].scores.values()):
            yield f"scores.jsonl has a score {_where(cell)}, for which no decisions are stored"


def _curve_differs(record: RunRecord, again: Recomputed) -> Iterator[str]:
    """Yield what is wrong with the tests between two calls of learn.

    Their decisions are not stored, but for those of the last one: the model is that which the whole
    stream has made.
    """
    asked = record.spec.protocol.get("curve") is not None
    if asked != bool(record.points) and record.complete:
        words = ("a curve", "none") if asked else ("no curve", "one")
        yield f"expected {words[0]} in curve.jsonl, as its protocol says, found {words[1]}"
    for test in dict.fromkeys(point.test for point in record.points):
        mine = [point for point in record.points if point.test == test]
        seen = [point.seen for point in mine]
        if seen != sorted(set(seen)):
            yield f"curve.jsonl: the points of the test {test} are not in order, or there twice"
        cell = (len(record.spec.periods) - 1, test, None)
        if not record.complete or record.spec.protocol["tests"] != "static":
            continue
        if cell in again.scores and not _same(mine[-1].scores, again.scores[cell][0]):
            yield (
                f"curve.jsonl says {mine[-1].scores} on the test {test} after the last sample, the "
                f"stored decisions of the same model give {again.scores[cell][0]}"
            )


def _tests_differ(again: Recomputed, key: Key | None) -> Iterator[str]:
    """Yield the tests whose samples or targets are not those of the key, or not always the same."""
    expected = again.key if key is None else key
    wrong: dict[str, list[int]] = {}
    for learned_upto, tests in again.tests.items():
        for name, digest in tests.items():
            if expected.get(name) != digest:
                wrong.setdefault(name, []).append(learned_upto)
    if len(wrong) > _EACH:
        named = first_few([_called(*named_test(name)) for name in wrong], most=_EACH)
        whose = "they had at other times" if key is None else "the benchmark's key of this seed has"
        yield f"{len(wrong)} tests have other samples or targets than {whose}: {named}"
        return
    for name, after in wrong.items():
        periods = "period" if len(after) == 1 else "periods"
        where = f"the test {_called(*named_test(name))} after {periods} {first_few(after)}"
        if key is None:
            yield f"{where} has other samples or targets than after an earlier one"
        elif name in key:
            yield (
                f"{where} has other samples or targets than the benchmark: its key says "
                f"{key[name]}, these have {again.tests[after[0]][name]}"
            )
        else:
            yield f"{where} is none of the benchmark's: its key has no such test"


def _same(told: Scores, again: Scores) -> bool:
    """Say whether two scores agree; another processor may add up in another order."""
    return told.keys() == again.keys() and all(
        a == b or (a is not None and b is not None and abs(a - b) < _ROUNDING)
        for a, b in ((told[name], again[name]) for name in told)
    )


def _cell(score: Score) -> Cell:
    return score.learned_upto, score.test, score.tested_on


def _where(cell: Cell) -> str:
    learned_upto, test, period = cell
    return f"on {_called(test, period)} after period {learned_upto}"


def _called(test: str, period: int | None) -> str:
    if period is None:
        return test
    return f"period {period}" if test == PERIOD else f"{test} of period {period}"
