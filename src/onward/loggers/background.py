"""A logger in a thread of its own: training never waits for a server."""

import queue
import threading
import time
import warnings
from collections.abc import Callable, Sequence

from onward.loggers.logger import Logger
from onward.results.training import TrainingRecord

OPEN_SECONDS = 30.0
"""How long a server may take to answer before the run goes on without it."""
CLOSE_SECONDS = 30.0
"""How long the end of a run waits for a server to take the last records."""


class BackgroundLogger:
    """Opens a logger and passes records to it from a thread.

    If the server fails or does not answer in time, there is one warning, and the run goes on
    without the logger.

    Parameters
    ----------
    name
        The name of the logger, for the warning.
    open_logger
        Returns the logger, which is used by that thread alone.
    """

    def __init__(self, name: str, open_logger: Callable[[], Logger]) -> None:
        self._name, self._open_logger = name, open_logger
        self._records: queue.SimpleQueue[Sequence[TrainingRecord] | None] = queue.SimpleQueue()
        self._problem: str | None = None
        self._given_up = False
        # Of the call under way: when it began.
        self._busy_since: float | None = time.monotonic()
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"onward-{name}")
        self._thread.start()

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Hand records over; warn once if the server is lost."""
        since = self._busy_since
        if since is not None and time.monotonic() - since > OPEN_SECONDS:
            self._problem = self._problem or f"no answer for {OPEN_SECONDS:g} seconds"
        if self._problem is not None:
            self._give_up()
        else:
            self._records.put(list(records))

    def close(self) -> None:
        """Wait for the last records to be taken, for a limited time."""
        if self._given_up:
            return
        self._records.put(None)
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._problem = self._problem or f"no answer for {CLOSE_SECONDS:g} seconds"
        if self._problem is not None:
            self._give_up()

    def _give_up(self) -> None:
        if not self._given_up:
            self._given_up = True
            warnings.warn(
                f"the logger {self._name} does not work ({self._problem}): the run goes on without "
                "it. All metrics are in training.jsonl in the run's folder",
                stacklevel=3,
            )

    def _work(self) -> None:
        try:
            logger = self._open_logger()
            while not self._given_up:
                self._busy_since = None
                records = self._records.get()
                self._busy_since = time.monotonic()
                if records is None:
                    logger.close()
                    return
                logger.log(records)
        except Exception as error:  # noqa: BLE001 (of somebody else's client: it is the warning)
            self._problem = f"{type(error).__name__}: {error}".splitlines()[0]
