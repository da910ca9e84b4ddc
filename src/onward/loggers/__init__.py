"""Loggers of training metrics and scores: a CSV file, TensorBoard, Weights & Biases, MLflow."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onward.errors import OnwardError, unknown
from onward.extras import need
from onward.loggers.logger import LoggedRun, Logger
from onward.results.training import TrainingRecord


@dataclass(frozen=True)
class LoggerCard:
    """A logger: its class, the package that it needs, and what `onward run --help` says."""

    module: str
    kind: str
    package: str | None
    summary: str
    needs_folder: bool = False


LOGGERS = {
    "csv": LoggerCard(
        "onward.loggers.csv_file", "CSVLogger", None, "metrics.csv in the run's folder", True
    ),
    "tensorboard": LoggerCard(
        "onward.loggers.tensorboard",
        "TensorBoardLogger",
        "tensorboard",
        "event files in the run's folder",
        True,
    ),
    "wandb": LoggerCard("onward.loggers.wandb", "WandbLogger", "wandb", "Weights & Biases"),
    "mlflow": LoggerCard("onward.loggers.mlflow", "MLflowLogger", "mlflow", "MLflow"),
}
"""All loggers by name."""


def check_loggers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of loggers; raise if one is unknown, or lacks its package."""
    for name in names:
        if name not in LOGGERS:
            raise unknown("logger", name, LOGGERS, "onward run --help")
        if (package := LOGGERS[name].package) is not None:
            need(package, f"which the logger {name} writes with", name)
    return tuple(dict.fromkeys(names))


class Loggers:
    """The loggers of one run: nothing is logged before `open`."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._open: list[Logger] = []

    def open(self, run: LoggedRun) -> None:
        """Open them all; each gets what the run has recorded before."""
        for name in self.names:
            card = LOGGERS[name]
            if card.needs_folder and run.folder is None:
                raise OnwardError(
                    f"expected out=, a results folder, for the logger {name}, which writes into "
                    "the run's folder, found none. Give one, or leave the logger out"
                )
            kind: Any = getattr(importlib.import_module(card.module), card.kind)
            self._open.append(kind(run))

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Pass records to all of them."""
        for logger in self._open:
            logger.log(records)

    def close(self) -> None:
        """Finish writing."""
        while self._open:
            self._open.pop().close()
