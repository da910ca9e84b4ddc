"""The training metrics of a run: what ``training.jsonl`` in its folder holds.

Each line is a `TrainingRecord`, in the order of training::

    {"kind": "step", "period": 0, "call": 0, "epoch": 2, "step": 34, "time": 1763596658.4,
     "values": {"loss": 0.71, "lr": 0.1, "grad_norm": 1.9}}

Lines are appended while a period is learned and are not in the manifest. A run that is resumed
removes those that were written after its checkpoint, so that no step is there twice.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pydantic

from onward.errors import DamagedFolderError
from onward.files import storage
from onward.results.schema import Score, Stored
from onward.types import PERIOD

TRAINING = "training.jsonl"
"""The file of a run folder with its training metrics."""
SPEED = ("samples_per_second", "waiting_share")
"""Values that depend on the machine: they differ from run to run, as `TrainingRecord.time`."""


class TrainingRecord(Stored):
    """The metrics of one step, of one epoch, or of the tests after a period.

    Parameters
    ----------
    kind
        ``step``; ``epoch``, with means over its steps; or ``test``, which only loggers get: the
        scores themselves are in ``scores.jsonl``.
    period
        The index of the period that is learned.
    call
        The number of the call of `learn` in this period, from 0.
    epoch
        The number of the epoch in this call, from 0.
    step
        The number of optimizer steps of the run, this one included.
    time
        Seconds since 1970.
    values
        Numbers by name; None is a number that was not finite.
    """

    kind: Literal["step", "epoch", "test"]
    period: int
    call: int
    epoch: int
    step: int
    time: float
    values: dict[str, float | None]


def append_training(folder: Path, records: Sequence[TrainingRecord]) -> None:
    """Append records to the file of a run folder."""
    lines = "".join(record.model_dump_json() + "\n" for record in records)
    with storage(folder), (folder / TRAINING).open("a") as file:
        file.write(lines)


def sync_training(folder: Path) -> int:
    """Make what was appended durable, and return how many bytes the file has."""
    path = folder / TRAINING
    if not path.exists():
        return 0
    with storage(folder), path.open("rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size


def truncate_training(folder: Path, size: int) -> None:
    """Remove what was appended after the first `size` bytes."""
    path = folder / TRAINING
    if path.exists() and path.stat().st_size > size:
        with storage(folder):
            os.truncate(path, size)


def read_training(folder: Path) -> list[TrainingRecord]:
    """Return the training metrics of a run folder; none where an older version wrote it.

    A last line that a process did not finish writing is left out.
    """
    path = folder / TRAINING
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    try:
        return [TrainingRecord.model_validate_json(line) for line in lines]
    except pydantic.ValidationError as error:
        raise DamagedFolderError(
            f"{TRAINING} in {folder} is damaged: expected a record of training metrics in each "
            "line. Delete that file: no result is computed from it"
        ) from error


def training_history(
    folder: Path, periods: Sequence[str], scores: Sequence[Score]
) -> list[TrainingRecord]:
    """Return all that loggers would have got of a run folder until now, in order."""
    history = read_training(folder)
    for index in sorted({score.learned_upto for score in scores}):
        before = [record for record in history if record.period <= index]
        step, time = (before[-1].step, before[-1].time) if before else (0, 0.0)
        mine = [score for score in scores if score.learned_upto == index]
        history.insert(len(before), record_of_tests(mine, periods, step, time))
    return history


def record_of_tests(
    scores: Sequence[Score], periods: Sequence[str], step: int, time: float
) -> TrainingRecord:
    """Return the scores of all tests after a period as one record, for loggers.

    A value is named ``<period>/<metric>``, or ``<test>/<metric>`` for a test of no period.
    """
    values = {}
    for score in scores:
        parts = [] if score.test == PERIOD else [score.test]
        parts += [] if score.tested_on is None else [periods[score.tested_on]]
        values.update({"/".join([*parts, name]): value for name, value in score.scores.items()})
    return TrainingRecord(
        kind="test",
        period=scores[0].learned_upto,
        call=0,
        epoch=0,
        step=step,
        time=round(time, 3),
        values=values,
    )
