"""Weights & Biases: a run for each run, offline with ``WANDB_MODE=offline``."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from onward.loggers.background import OPEN_SECONDS, BackgroundLogger
from onward.loggers.logger import LoggedRun, scalars
from onward.results.training import TrainingRecord


class WandbLogger(BackgroundLogger):
    """Logs to wandb, in a thread.

    The project is ``onward``, or ``WANDB_PROJECT``; the id is the hash of the run's spec, so that a
    run that is resumed goes on with the same one. Its files are in the run's folder.
    """

    def __init__(self, run: LoggedRun) -> None:
        super().__init__("wandb", partial(_WandbRun, run))


class _WandbRun:
    def __init__(self, run: LoggedRun) -> None:
        import wandb  # loaded when it is needed

        spec = run.spec
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "onward"),
            id=spec.hash,
            resume="allow",
            name=run.name,
            group=f"{spec.benchmark} {spec.data}",
            config=spec.model_dump(mode="json"),
            dir=None if run.folder is None else str(run.folder),
            settings=wandb.Settings(init_timeout=OPEN_SECONDS, silent=True, console="off"),
        )
        # What the server has of an interrupted run is not sent again.
        sent = self._run.step if self._run.resumed else 0
        self.log([record for record in run.history if record.step >= sent])

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Log the values of records at their steps."""
        for record in records:
            place = {"period": record.period, "epoch": record.epoch}
            self._run.log({**place, **dict(scalars(record))}, step=record.step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()
