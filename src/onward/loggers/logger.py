"""What a logger is, and what it is told of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from onward.results.schema import RunSpec
from onward.results.training import TrainingRecord


@dataclass(frozen=True)
class LoggedRun:
    """The run that is logged.

    Parameters
    ----------
    spec
        What was asked.
    folder
        The run's folder; None where nothing is left on disk.
    history
        What was recorded before, of a run that is resumed.
    """

    spec: RunSpec
    folder: Path | None
    history: tuple[TrainingRecord, ...] = ()

    @property
    def results(self) -> Path | None:
        """The results folder, which has the run's folder."""
        return None if self.folder is None else self.folder.parents[2]

    @property
    def name(self) -> str:
        """Name the run for people."""
        spec = self.spec
        return f"{spec.method} {spec.protocol['name']} seed {spec.seed}"


class Logger(Protocol):
    """Gets the records of a run; its class is called with a `LoggedRun`.

    A logger that writes files into the run's folder writes those of the history again.
    """

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Take new records."""

    def close(self) -> None:
        """Finish writing."""


def scalars(record: TrainingRecord) -> Iterator[tuple[str, float]]:
    """Yield the finite values of a record, each named ``<kind>/<name>``, such as ``step/loss``."""
    for name, value in record.values.items():
        if value is not None:
            yield f"{record.kind}/{name}", value
