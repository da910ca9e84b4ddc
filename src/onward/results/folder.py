"""One run's folder while it is written: atomic, durable, locked, resumable."""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from onward.errors import DamagedFolderError
from onward.files import locked, publish_folder, storage, write_atomic
from onward.results.read import check_mark, mark, read_manifest, read_scores, read_spec
from onward.results.schema import Cost, Environment, Manifest, Progress, RunSpec, Score
from onward.types import Rows


class RunFolder:
    """Writes one run's folder; make it with `open_folder`."""

    def __init__(self, path: Path, spec: RunSpec, environment: Environment) -> None:
        self.path = path
        self.spec = spec
        self._manifest = read_manifest(path) or Manifest()
        if self._manifest.files:
            for name, expected in self._manifest.files.items():
                check_mark(path, name, expected)
            if read_spec(path) != spec:
                raise DamagedFolderError(
                    f"expected the spec {spec.hash} in {path}, found another one; "
                    "move the folder away and run again"
                )
            self.scores = read_scores(path, self._manifest)
        else:
            self.scores = []
            write_atomic(path / "spec.json", spec.model_dump_json(indent=1).encode())
            write_atomic(path / "env.json", environment.model_dump_json(indent=1).encode())
            self.log("begun", environment=environment.model_dump())
            self._commit("spec.json", "env.json")

    @property
    def complete(self) -> bool:
        """Whether the run is finished."""
        return self._manifest.complete

    def tested(self, period: int) -> bool:
        """Whether the tests after this period are committed."""
        return any(score.learned_upto == period for score in self.scores)

    def add(self, period: int, scores: list[Score], predictions: bytes | None) -> None:
        """Commit the tests after one period."""
        names = ["scores.jsonl"]
        if predictions is not None:
            names.append(f"predictions/{period:03d}.parquet")
            write_atomic(self.path / names[-1], predictions)
        self.scores += scores
        lines = "".join(score.model_dump_json() + "\n" for score in self.scores)
        write_atomic(self.path / "scores.jsonl", lines.encode())
        self._commit(*names)

    def finish(self, cost: Cost) -> None:
        """Commit the cost and call the run complete."""
        write_atomic(self.path / "cost.json", cost.model_dump_json(indent=1).encode())
        self.log("finished")
        self._commit("cost.json", complete=True)

    def log(self, event: str, **facts: Any) -> None:
        """Note what happened; the log is for people and is never read back to compute anything."""
        line = {"time": datetime.now(UTC).isoformat(), "event": event, **facts}
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "log.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def checkpoint(
        self, progress: Progress, held: Rows, save_learner: Callable[[Path], None]
    ) -> None:
        """Replace the last checkpoint by a new one; at any moment at least one is whole."""
        before = self._checkpoints()
        number = int(before[-1].name) + 1 if before else 0

        def fill(draft: Path) -> None:
            (draft / "progress.json").write_text(progress.model_dump_json())
            np.save(draft / "held.npy", held, allow_pickle=False)
            (draft / "learner").mkdir()
            save_learner(draft / "learner")
            names = sorted(str(f.relative_to(draft)) for f in draft.rglob("*") if f.is_file())
            marks = Manifest(files={name: mark(draft, name) for name in names})
            (draft / "manifest.json").write_text(marks.model_dump_json())

        publish_folder(self.path / "checkpoint" / f"{number:06d}", fill)
        for old in before:
            shutil.rmtree(old, ignore_errors=True)

    def last_checkpoint(self) -> tuple[Progress, Rows, Path] | None:
        """Return where the loop was, what was held, and the learner's folder; None if nowhere."""
        checkpoints = self._checkpoints()
        if not checkpoints:
            return None
        path = checkpoints[-1]
        manifest = read_manifest(path) or Manifest()
        for name, expected in manifest.files.items():
            check_mark(path, name, expected)
        if "progress.json" not in manifest.files:
            raise DamagedFolderError(
                f"expected a checkpoint in {path}, found none that is whole; delete that folder "
                "and run again: the run is then learned from its first period"
            )
        progress = Progress.model_validate_json((path / "progress.json").read_bytes())
        return progress, np.load(path / "held.npy", allow_pickle=False), path / "learner"

    def _checkpoints(self) -> list[Path]:
        return sorted(p for p in (self.path / "checkpoint").glob("[0-9]*") if p.is_dir())

    def _commit(self, *names: str, complete: bool = False) -> None:
        files = dict(self._manifest.files)
        for name in (*names, "log.jsonl"):
            files[name] = mark(self.path, name)
        self._manifest = Manifest(complete=complete, files=files)
        write_atomic(self.path / "manifest.json", self._manifest.model_dump_json(indent=1).encode())


@contextlib.contextmanager
def open_folder(
    out: Path, spec: RunSpec, environment: Environment, on_wait: Callable[[], None]
) -> Iterator[RunFolder]:
    """Open the folder of a spec for writing, alone.

    Parameters
    ----------
    out
        The results folder; the run's own is ``<benchmark>/<method>/<spec hash>`` below it.
    spec
        What is to be run.
    environment
        Where it is run, noted if the run begins here.
    on_wait
        Called if another process is at it, before waiting for that one.
    """
    path = folder_of(out, spec)
    with storage(path), locked(path / ".lock", on_wait):
        yield RunFolder(path, spec, environment)


def folder_of(out: Path, spec: RunSpec) -> Path:
    """Return where a spec's run folder lies."""
    return out / spec.benchmark / spec.method.rsplit(":", 1)[-1] / spec.hash
