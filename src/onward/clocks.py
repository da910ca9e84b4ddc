"""Clocks of this process: seconds spent waiting for data, and seconds of a device at work."""

import time
from collections.abc import Callable


class Clock:
    """Adds up the seconds of ``with`` blocks, which may be nested.

    It can be read at any moment.

    Parameters
    ----------
    now
        Returns the time in seconds.

    Examples
    --------
    >>> times = iter([10.0, 12.0, 20.0, 21.0, 22.0])
    >>> clock = Clock(lambda: next(times))
    >>> with clock:
    ...     pass
    >>> clock.seconds
    2.0
    >>> with clock:
    ...     clock.seconds
    3.0
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._before = now, 0.0
        self._started: float | None = None
        self._depth = 0

    def __enter__(self) -> None:
        if not self._depth:
            self._started = self._now()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._before, self._started = self.seconds, None

    @property
    def seconds(self) -> float:
        """The seconds that it has counted since this process began."""
        if self._started is None:
            return self._before
        return self._before + self._now() - self._started


WAITING = Clock()
"""Runs while training or prediction waits for a batch to be read."""

DEVICE = Clock(lambda: time.perf_counter() - WAITING.seconds)
"""Runs in calls of learn and predict on a device other than the CPU, while they do not wait."""
