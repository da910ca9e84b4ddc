"""TensorBoard event files, in the folder ``tensorboard`` of the run's folder."""

import shutil
from collections.abc import Sequence

from onward.files import storage
from onward.loggers.logger import LoggedRun, scalars
from onward.results.training import TrainingRecord

FOLDER = "tensorboard"


class TensorBoardLogger:
    """Writes scalars such as ``step/loss`` at the run's optimizer steps."""

    def __init__(self, run: LoggedRun) -> None:
        from torch.utils.tensorboard.writer import SummaryWriter  # loaded when it is needed

        if run.folder is None:
            raise ValueError("expected a run with a folder")
        self._folder = run.folder
        with storage(run.folder):
            shutil.rmtree(run.folder / FOLDER, ignore_errors=True)
            self._writer = SummaryWriter(str(run.folder / FOLDER))
        self.log(run.history)

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Write the values of records."""
        with storage(self._folder):
            for record in records:
                for tag, value in scalars(record):
                    self._writer.add_scalar(tag, value, record.step, record.time)

    def close(self) -> None:
        """Write what is still buffered."""
        with storage(self._folder):
            self._writer.close()
