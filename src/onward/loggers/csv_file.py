"""Metrics as a table: ``metrics.csv`` in the run's folder, a row for each value."""

import csv
from collections.abc import Sequence

from onward.files import storage
from onward.loggers.logger import LoggedRun
from onward.results.training import TrainingRecord

METRICS = "metrics.csv"
COLUMNS = ("kind", "period", "call", "epoch", "step", "time", "name", "value")


class CSVLogger:
    """Writes a table in long form with the `COLUMNS`; a value that is not finite is empty."""

    def __init__(self, run: LoggedRun) -> None:
        if run.folder is None:
            raise ValueError("expected a run with a folder")
        self._path = run.folder / METRICS
        with storage(run.folder), self._path.open("w", newline="") as file:
            csv.writer(file).writerow(COLUMNS)
        self.log(run.history)

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Append the values of records."""
        with storage(self._path.parent), self._path.open("a", newline="") as file:
            csv.writer(file).writerows(
                (r.kind, r.period, r.call, r.epoch, r.step, r.time, name, value)
                for r in records
                for name, value in r.values.items()
            )

    def close(self) -> None:
        """Do nothing: every row is written when it comes."""
