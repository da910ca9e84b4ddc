"""Progress as plain lines, where the error stream is a file or a pipe and no bar can be drawn."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import typer

from onward.turns import Event

EVERY_SECONDS = 60.0
"""There is a line at least so often."""
_QUIET_SECONDS = 10.0
_MOST_RUNS = 4


@dataclass
class _Run:
    """What is known of a run under way."""

    name: str
    period: str = ""
    training: str = ""


class ProgressLines:
    """Prints where runs are: every minute, and after tests if ten seconds have passed.

    Parameters
    ----------
    runs, periods
        How many runs there are, of so many periods each.
    echo
        Prints a line.
    now
        Returns the time in seconds.
    """

    def __init__(
        self,
        runs: int,
        periods: int,
        echo: Callable[[str], None] = lambda line: typer.echo(line, err=True),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._periods, self._echo, self._now = runs, periods, echo, now
        self._active: dict[str, _Run] = {}
        self._finished = 0
        # Of the calls of `learn` under way: when their first record came, with so many steps done.
        self._begun: dict[tuple[str, int, int], tuple[float, int]] = {}
        self._printed = now()
        self._lock = threading.Lock()

    def watch(self, event: Event) -> None:
        """Follow the events of all runs."""
        with self._lock:
            self._follow(event)
            due = EVERY_SECONDS if event.kind == "training" else _QUIET_SECONDS
            if event.kind in ("training", "tested") and self._now() - self._printed >= due:
                self._print(event)

    def tick(self) -> None:
        """Print lines if there was none for a minute."""
        with self._lock:
            if self._now() - self._printed >= EVERY_SECONDS:
                self._print(None)

    @contextlib.contextmanager
    def ticking(self) -> Iterator[None]:
        """Call `tick` from a thread."""
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(1.0):
                self.tick()

        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _follow(self, event: Event) -> None:
        spec, name = event.spec, event.spec.hash
        if event.kind in ("done", "done before", "failed"):
            self._active.pop(name, None)
            self._finished += 1
            return
        label = f"{spec.method} {spec.protocol['name']} seed {spec.seed}"
        run = self._active.setdefault(name, _Run(label))
        if event.period is not None and event.period < len(spec.periods):
            place = f"{event.period + 1} of {len(spec.periods)}"
            run.period = f"period {spec.periods[event.period]} ({place})"
        if event.kind == "training":
            run.training = self._training(name, event)
        elif event.kind == "learning":
            run.training = "learning"
        elif event.kind == "learned":
            run.training = "learned, testing"
        elif event.kind == "tested" and event.scores:
            metric, value = next(iter(event.scores[0].scores.items()))
            score = "-" if value is None else f"{value:.3f}"
            run.training = f"tested, last {metric} {score}"

    def _training(self, name: str, event: Event) -> str:
        """Return the newest loss, speed and remaining time of a call of `learn`."""
        newest, (done, total) = event.records[-1], event.steps
        values: dict[str, float | None] = {}
        for record in event.records:
            values |= record.values
        words = [f"epoch {newest.epoch + 1}, step {done:,} of {total:,}"]
        if (loss := values.get("loss")) is not None:
            words.append(f"loss {loss:.4g}")
        if (speed := values.get("samples_per_second")) is not None:
            words.append(f"{speed:,.0f} samples/s")
        call = name, newest.period, newest.call
        begun, before = self._begun.setdefault(call, (self._now(), done))
        if done > before and total > done:
            left = (self._now() - begun) / (done - before) * (total - done)
            words.append(f"{_duration(left)} left in this call of learn")
        return ", ".join(words)

    def _print(self, event: Event | None) -> None:
        """Print a line per run; of many runs, those that have just moved and a count."""
        self._printed = self._now()
        shown = [*self._active.values()]
        if event is not None and event.spec.hash in self._active:
            first = self._active[event.spec.hash]
            shown = [first, *(run for run in shown if run is not first)]
        done = f"[{self._finished}/{self._total} runs]"
        for run in shown[:_MOST_RUNS]:
            self._echo(" ".join(filter(None, [done, run.name + ":", run.period, run.training])))
        if len(shown) > _MOST_RUNS:
            self._echo(f"{done} and {len(shown) - _MOST_RUNS} more runs under way")


def _duration(seconds: float) -> str:
    """Say how long something takes, roughly.

    Examples
    --------
    >>> _duration(40), _duration(200), _duration(9000)
    ('40 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
