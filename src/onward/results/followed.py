"""A run folder as seen by a process that does not write to it: of several, only rank 0 does."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onward import distributed
from onward.results.folder import RunFolder, open_folder
from onward.results.schema import Cost, Environment, Point, Progress, RunSpec, Score
from onward.results.training import TrainingRecord
from onward.types import Rows


@dataclass(eq=False)
class FollowedFolder:
    """Knows what the folder holds that another process writes; keeps no decision of its own."""

    path: Path
    complete: bool
    scores: list[Score] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    keeps_predictions: bool | None = False

    @staticmethod
    def of(folder: RunFolder) -> "FollowedFolder":
        """Return what another process has to know of a folder."""
        return FollowedFolder(folder.path, folder.complete, folder.scores, folder.curve)

    def tested(self, period: int) -> bool:
        """Whether the tests after this period are known."""
        return any(score.learned_upto == period for score in self.scores)

    def add(self, period: int, scores: list[Score], predictions: bytes | None) -> None:
        """Know of the tests after one period."""
        self.scores += scores

    def add_to_curve(self, points: list[Point]) -> None:
        """Know of tests between two calls of learn."""
        self.curve += points

    def finish(self, cost: Cost) -> None:
        """Do nothing: the other process says that the run is complete."""

    def log(self, event: str, **facts: Any) -> None:
        """Note nothing."""

    def add_training(self, records: Sequence[TrainingRecord]) -> None:
        """Write nothing: the other process records the training."""

    def sync_training(self) -> int:
        """Return nothing's size."""
        return 0

    def resume_training(self, size: int) -> None:
        """Remove nothing."""

    def checkpoint(
        self, progress: Progress, held: Rows, save_learner: Callable[[Path], None]
    ) -> None:
        """Save nothing: all processes have the same state."""

    def last_checkpoint(self) -> tuple[Progress, Rows, Path] | None:
        """Return nothing: the other process says where to go on."""
        return None


@contextlib.contextmanager
def open_for_all(
    out: Path, spec: RunSpec, environment: Environment, on_wait: Callable[[], None]
) -> Iterator[RunFolder | FollowedFolder]:
    """Open the folder of a spec: the main process writes, the others read."""
    written: list[RunFolder] = []
    with contextlib.ExitStack() as stack:

        def opened() -> FollowedFolder:
            written.append(stack.enter_context(open_folder(out, spec, environment, on_wait)))
            return FollowedFolder.of(written[0])

        versions = {"python": environment.python, "onward": environment.onward}
        distributed.require_equal(
            (spec.hash, versions | environment.packages),
            "expected all processes to make the same run, found another one in some. Start all of "
            "them with the same command and data, and the same versions of all packages",
        )
        followed = distributed.broadcast(opened)
        yield written[0] if written else followed
