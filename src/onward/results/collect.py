"""Many run folders at once: what can be read, and what was left out and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from onward.errors import OnwardError
from onward.results.read import find_folders
from onward.results.record import RunRecord, load_record


@dataclass(frozen=True)
class LeftOut:
    """A folder that could not be read."""

    folder: Path
    reason: str


@dataclass(frozen=True)
class Collected:
    """The runs of some folders, complete or not, and the folders that are damaged."""

    records: tuple[RunRecord, ...]
    left_out: tuple[LeftOut, ...] = ()


def collect(roots: Iterable[Path]) -> Collected:
    """Read every run folder at or below some paths; a damaged one does not spoil the others.

    Raises
    ------
    OnwardError
        Where a path does not exist or has no run folder.
    """
    folders = {folder.resolve(): folder for root in roots for folder in find_folders(root)}
    records, left_out = [], []
    for folder in folders.values():
        try:
            records.append(load_record(folder))
        except OnwardError as error:
            left_out.append(LeftOut(folder, str(error)))
    return Collected(tuple(records), tuple(left_out))
