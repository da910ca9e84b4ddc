"""Many run folders at once: what can be read, and what was left out and why."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onward.errors import DamagedFolderError, OnwardError
from onward.results.read import find_folders
from onward.results.record import RunRecord, load_record
from onward.tasks import TASKS


@dataclass(frozen=True)
class LeftOut:
    """A folder that could not be read, or that contradicts another one."""

    folder: Path
    reason: str


@dataclass(frozen=True)
class Collected:
    """The runs of some folders, complete or not, and the folders that are left out."""

    records: tuple[RunRecord, ...]
    left_out: tuple[LeftOut, ...] = ()


def collect(roots: Iterable[Path]) -> Collected:
    """Read every run folder at or below some paths; a damaged one does not spoil the others.

    A run that is there several times counts once. Where finished results of one spec differ, all
    of them are left out: nobody can tell which is right.

    Raises
    ------
    OnwardError
        Where a path does not exist or has no run folder.
    """
    folders = {folder.resolve(): folder for root in roots for folder in find_folders(root)}
    same: dict[str, list[RunRecord]] = {}
    left_out = []
    for folder in folders.values():
        try:
            record = load_record(folder)
            _require_comparable(record)
            same.setdefault(record.spec.hash, []).append(record)
        except OnwardError as error:
            left_out.append(LeftOut(folder, str(error)))
        except OSError as error:
            left_out.append(LeftOut(folder, f"{folder} cannot be read: {error.strerror}"))
    records = []
    for copies in same.values():
        chosen, others = _chosen(copies)
        records += chosen
        left_out += others
    return Collected(tuple(records), tuple(left_out))


def _require_comparable(record: RunRecord) -> None:
    """Raise if a report could make nothing of these scores."""
    task = TASKS.get(record.spec.task)
    if task is None:
        raise OnwardError(
            f"{record.path} has the task kind {record.spec.task!r}, which is not known here. "
            "Install the package that brings it"
        )
    cells = [score.scores for score in record.scores] + [point.scores for point in record.points]
    for scores in cells:
        if task.headline not in scores:
            raise DamagedFolderError(
                f"expected a score {task.headline} in every cell of {record.path}, found "
                f"{', '.join(scores) or 'none'}; move that folder away and run again"
            )
        if not all(value is None or math.isfinite(value) for value in scores.values()):
            raise DamagedFolderError(
                f"expected numbers in every cell of {record.path}, found {scores}; move that "
                "folder away and run again"
            )


def _chosen(copies: Sequence[RunRecord]) -> tuple[list[RunRecord], list[LeftOut]]:
    """Return the run that counts among the folders of one spec, and those that are in doubt."""
    finished = [record for record in copies if record.complete]
    if not finished:
        # The one that has come farthest: the others tell nothing more.
        return [max(copies, key=lambda record: len(record.scores))], []
    first = finished[0]
    differ = [record for record in finished if record.scores != first.scores]
    if not differ:
        return [first], []
    reasons = []
    for record in finished:
        other = first if record is not first else differ[0]
        why = (
            f"expected one result for {record.spec.method} with seed {record.spec.seed}, found "
            f"two that differ, in {record.path} and {other.path}; move one of them away"
        )
        reasons.append(LeftOut(record.path or Path(), why))
    return [], reasons
