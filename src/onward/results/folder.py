"""One run's folder while it is written: atomic, durable, locked, resumable."""

import contextlib
import io
import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from onward.binary_files import load_npy
from onward.errors import DamagedFolderError, OnwardError
from onward.files import locked, publish_folder, remove_drafts, storage, write_atomic
from onward.results.read import (
    check_checkpoint,
    check_mark,
    checkpoints,
    mark,
    read_curve,
    read_environment,
    read_manifest,
    read_progress,
    read_resumed,
    read_scores,
    read_spec,
    read_stored_spec,
)
from onward.results.schema import Cost, Environment, Manifest, Point, Progress, RunSpec, Score
from onward.results.training import (
    TrainingRecord,
    append_training,
    sync_training,
    truncate_training,
)
from onward.types import Rows

TRACEBACK = "error.txt"
"""The file of a run folder with the traceback of the last failure, until the run is complete."""


class RunFolder:
    """Writes one run's folder; make it with `open_folder`."""

    def __init__(self, path: Path, spec: RunSpec, environment: Environment) -> None:
        self.path = path
        self.spec = spec
        self.scores: list[Score] = []
        self.curve: list[Point] = []
        manifest = read_manifest(path)
        if manifest is None:
            self._refuse_leftovers()
            self._manifest = Manifest()
            self._write("spec.json", spec.model_dump_json(indent=1).encode())
            self._write("env.json", environment.model_dump_json(indent=1).encode())
            self.log("begun", environment=environment.model_dump())
            self._commit("spec.json", "env.json")
            return
        self._manifest = manifest
        for name, expected in manifest.files.items():
            check_mark(path, name, expected)
        if read_stored_spec(path) != spec:
            raise DamagedFolderError(
                f"expected the spec {spec.hash} in {path}, found another one; "
                "move the folder away and run again"
            )
        self.scores = read_scores(path, manifest)
        self.curve = read_curve(path, manifest)
        with storage(path):
            remove_drafts(path)
            remove_drafts(path / "checkpoint")
        if not manifest.complete:
            self._note_environment(environment)

    @property
    def complete(self) -> bool:
        """Whether the run is finished."""
        return self._manifest.complete

    @property
    def keeps_predictions(self) -> bool | None:
        """Whether this run keeps single decisions; None before its first test."""
        if not self.scores:
            return None
        return any(name.startswith("predictions/") for name in self._manifest.files)

    def tested(self, period: int) -> bool:
        """Whether the tests after this period are committed."""
        return any(score.learned_upto == period for score in self.scores)

    def add(self, period: int, scores: list[Score], predictions: bytes | None) -> None:
        """Commit the tests after one period."""
        names = ["scores.jsonl"]
        if predictions is not None:
            names.append(f"predictions/{period:03d}.parquet")
            self._write(names[-1], predictions)
        self.scores += scores
        self._write("scores.jsonl", _as_lines(self.scores))
        self._commit(*names)

    def add_to_curve(self, points: list[Point]) -> None:
        """Commit tests between two calls of learn."""
        self.curve += points
        self._write("curve.jsonl", _as_lines(self.curve))
        self._commit("curve.jsonl")

    def finish(self, cost: Cost) -> None:
        """Commit the cost and call the run complete."""
        with storage(self.path):
            (self.path / TRACEBACK).unlink(missing_ok=True)
        self._write("cost.json", cost.model_dump_json(indent=1).encode())
        self.log("finished")
        self._commit("cost.json", complete=True)

    def log(self, event: str, **facts: Any) -> None:
        """Note what happened; the log is for people and is never read back to compute anything."""
        line = {"time": datetime.now(UTC).isoformat(), "event": event, **facts}
        with storage(self.path), (self.path / "log.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def add_training(self, records: Sequence[TrainingRecord]) -> None:
        """Append training metrics."""
        append_training(self.path, records)

    def sync_training(self) -> int:
        """Make the training metrics durable, and return their size."""
        return sync_training(self.path)

    def resume_training(self, size: int) -> None:
        """Remove the training metrics that were appended after a checkpoint."""
        truncate_training(self.path, size)

    def checkpoint(
        self, progress: Progress, held: Rows, save_learner: Callable[[Path], None]
    ) -> None:
        """Replace the last checkpoint by a new one."""

        def fill(draft: Path) -> None:
            (draft / "progress.json").write_text(progress.model_dump_json())
            sink = io.BytesIO()
            np.save(sink, held, allow_pickle=False)
            (draft / "held.npy").write_bytes(sink.getvalue())
            (draft / "learner").mkdir()
            save_learner(draft / "learner")
            names = sorted(str(f.relative_to(draft)) for f in draft.rglob("*") if f.is_file())
            marks = Manifest(files={name: mark(draft, name) for name in names})
            (draft / "manifest.json").write_text(marks.model_dump_json())

        replace_checkpoint(self.path, fill)

    def last_checkpoint(self) -> tuple[Progress, Rows, Path] | None:
        """Return where the loop was, what was held, and the learner's folder; None if nowhere."""
        whole = checkpoints(self.path)
        if not whole:
            return None
        path = whole[-1]
        check_checkpoint(path)
        try:
            held = load_npy(path / "held.npy", "the rows of a checkpoint in", f"Delete {path}")
        except OnwardError as error:
            raise DamagedFolderError(f"{error} and run again") from error
        return read_progress(path), held, path / "learner"

    def _refuse_leftovers(self) -> None:
        """Raise if results are here that no manifest vouches for."""
        for name in ("scores.jsonl", "curve.jsonl", "predictions", "checkpoint"):
            if (self.path / name).exists():
                raise DamagedFolderError(
                    f"expected a manifest.json beside {name} in {self.path}, found none; "
                    "move the folder away and run again; nothing in it has been changed"
                )

    def _note_environment(self, now: Environment) -> None:
        """Record where a run is resumed, if it is on another device or with other versions."""
        begun = read_environment(self.path, self._manifest)
        resumed = read_resumed(self.path, self._manifest)
        before = resumed[-1] if resumed else begun
        if before is not None and before.changed(now):
            self._write("resumed.jsonl", _as_lines([*resumed, now]))
            self._commit("resumed.jsonl")

    def _write(self, name: str, content: bytes) -> None:
        if (read_manifest(self.path) or Manifest()) != self._manifest:
            raise DamagedFolderError(
                f"expected manifest.json in {self.path} as this process wrote it, found another "
                "one: another process writes this folder, which its lock should have kept out. "
                "Run the same command in one process; nothing committed has been changed"
            )
        with storage(self.path):
            write_atomic(self.path / name, content)

    def _commit(self, *names: str, complete: bool = False) -> None:
        files = {**self._manifest.files, **{name: mark(self.path, name) for name in names}}
        manifest = Manifest(complete=complete, files=files)
        self._write("manifest.json", manifest.model_dump_json(indent=1).encode())
        self._manifest = manifest


def _as_lines(rows: Sequence[Score] | Sequence[Point] | Sequence[Environment]) -> bytes:
    return "".join(row.model_dump_json() + "\n" for row in rows).encode()


def replace_checkpoint(folder: Path, fill: Callable[[Path], None]) -> None:
    """Replace the last checkpoint by a new one; at any moment at least one is whole."""
    before = checkpoints(folder)
    number = int(before[-1].name) + 1 if before else 0
    with storage(folder):
        publish_folder(folder / "checkpoint" / f"{number:06d}", fill)
    for old in before:
        shutil.rmtree(old, ignore_errors=True)


def folder_of(out: Path, spec: RunSpec) -> Path:
    """Return the folder of a spec: ``<benchmark>/<method>/<spec hash>`` below `out`."""
    return out / spec.benchmark / spec.method / spec.hash


def write_traceback(folder: Path, text: str) -> Path:
    """Write why a run failed into its folder, and return the file."""
    with storage(folder):
        write_atomic(folder / TRACEBACK, text.encode())
    return folder / TRACEBACK


@contextlib.contextmanager
def open_folder(
    out: Path, spec: RunSpec, environment: Environment, on_wait: Callable[[], None]
) -> Iterator[RunFolder]:
    """Open the folder of a spec for writing, alone.

    The environment is noted if the run begins here. If another process is at it, `on_wait` is
    called before waiting for that one.
    """
    path = folder_of(out, spec)
    with contextlib.ExitStack() as stack:
        with storage(path):
            stack.enter_context(locked(path / ".lock", on_wait))
        if read_manifest(path) is None:
            _warn_of_unfinished_older_run(path, spec)
        yield RunFolder(path, spec, environment)


def _warn_of_unfinished_older_run(path: Path, spec: RunSpec) -> None:
    """Warn if an older version began this run: its checkpoints are of another training engine."""
    for folder in sorted(path.parent.glob("*/")):
        try:
            older = read_spec(folder)
            manifest = read_manifest(folder)
        except OnwardError:  # a damaged folder, which is reported wherever it is read
            continue
        same = older.model_copy(update={"schema_version": spec.schema_version}) == spec
        if (
            older.schema_version < spec.schema_version
            and same
            and not (manifest or Manifest()).complete
        ):
            warnings.warn(
                f"{folder} has an unfinished run of these settings by an older version, which can "
                "be read and not resumed: the run begins again in a folder of its own",
                stacklevel=2,
            )
