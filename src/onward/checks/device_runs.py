"""The runs that the check of a device compares: whole, and interrupted within a call of learn."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onward.budget import Budget
from onward.checks.digests import digest
from onward.checks.trace import Stop, saved
from onward.checks.wrapper import Wrapper
from onward.clocks import WAITING
from onward.learners import Chosen, choose
from onward.loop import run
from onward.results.schema import Cost
from onward.turns import Event
from onward.types import Array, Benchmark, Learner, SavingLearner, View

_MOST_DETECTIONS = 5
_INTERRUPTED = 1  # the period in which a run is interrupted: it has a past
_NEVER = float("inf")


@dataclass
class Speed:
    """How long calls of learn took, and how many samples they read."""

    calls: list[tuple[int, float, float]] = field(default_factory=list)

    def note(self, samples: int, seconds: float, waiting: float) -> None:
        """Add a call."""
        self.calls.append((samples, seconds, waiting))

    @property
    def _after_first(self) -> tuple[float, float, float]:
        samples, seconds, waiting = np.array(self.calls[1:] or self.calls).sum(0)
        return float(samples), float(seconds), float(waiting)

    @property
    def samples_per_second(self) -> float:
        """The samples read in a second of learning."""
        samples, seconds, _ = self._after_first
        return samples / seconds

    @property
    def waiting_share(self) -> float:
        """The share of the time of learning that was spent waiting for data."""
        _, seconds, waiting = self._after_first
        return waiting / seconds


@dataclass
class Traced:
    """One run: its outputs after each period, the hash of its last state, its cost and speed."""

    outputs: dict[int, Array] = field(default_factory=dict)
    state: str | None = None
    cost: Cost = field(default_factory=Cost)
    speed: Speed = field(default_factory=Speed)


def traced(benchmark: Benchmark, method: str) -> Traced:
    """Run a method to its end."""
    found = Traced()
    with tempfile.TemporaryDirectory() as out:
        _run(benchmark, method, Path(out), found, _Measured)
    return found


def interrupted(benchmark: Benchmark, method: str) -> Traced:
    """Run a method until it is inside a call of learn, then resume it from its checkpoint."""
    found, stop = Traced(), _Stop()
    with tempfile.TemporaryDirectory() as out:
        try:
            _run(
                benchmark,
                method,
                Path(out),
                found,
                lambda inner, _: _Interrupted(inner, stop),
                watch=stop.watch,
                checkpoint_seconds=0.0,
            )
        except Stop:
            _run(benchmark, method, Path(out), found, _Measured)
    return found


def same_bits(one: Traced, other: Traced) -> bool:
    """Whether two runs have the same outputs and the same last state, bit by bit."""
    return (
        one.state == other.state
        and one.outputs.keys() == other.outputs.keys()
        and all(digest(one.outputs[at]) == digest(other.outputs[at]) for at in one.outputs)
    )


def largest_difference(reference: Traced, found: Traced) -> float:
    """Return the largest difference of outputs, as a share of the reference's largest output.

    It is infinite where one has NaN, infinity, or more outputs than the other. Of detectors, the
    highest scores of each image are compared: boxes may come in another order.
    """
    if reference.outputs.keys() != found.outputs.keys():
        return float("inf")
    return max(
        (_difference(reference.outputs[at], found.outputs[at]) for at in reference.outputs),
        default=0.0,
    )


def _difference(reference: Array, found: Array) -> float:
    if reference.shape != found.shape:
        return float("inf")
    if digest(reference) == digest(found):
        return 0.0
    one, other = _comparable(reference), _comparable(found)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return float("inf")
    one, other = one[finite], other[finite]
    largest = float(np.abs(one).max(initial=0.0))
    apart = float(np.abs(one - other).max(initial=0.0))
    return apart / largest if largest else (float("inf") if apart else 0.0)


def _comparable(outputs: Array) -> NDArray[np.float64]:
    if outputs.ndim == 3:
        # Rows of class, score and corners; unused ones have the class -1.
        scores = np.where(outputs[:, :, 0] < 0, 0.0, outputs[:, :, 1])
        return np.asarray(-np.sort(-scores, axis=1)[:, :_MOST_DETECTIONS], np.float64)
    return np.asarray(outputs, np.float64)


def _run(
    benchmark: Benchmark,
    method: str,
    out: Path,
    found: Traced,
    wrap: Callable[[Learner, Speed], Learner],
    *,
    watch: Callable[[Event], None] = lambda event: None,
    checkpoint_seconds: float = _NEVER,
) -> None:
    last = len(benchmark.stream(0)) - 1

    def note(event: Event) -> None:
        if event.kind == "learned" and event.period == last and event.learner is not None:
            found.state = saved(event.learner)
        if event.kind == "tested" and event.period is not None:
            found.outputs[event.period] = np.array(event.outputs)
        watch(event)

    chosen = choose(method, None, benchmark)
    record = run(
        benchmark,
        _wrapped(chosen, lambda inner: wrap(inner, found.speed)),
        out=out,
        checkpoint_seconds=checkpoint_seconds,
        watch=note,
    )
    found.cost = record.cost or Cost()


def _wrapped(chosen: Chosen, wrap: Callable[[Learner], Learner]) -> Chosen:
    return replace(chosen, build=lambda setting: wrap(chosen.build(setting)))


class _Measured(Wrapper):
    """A learner whose calls of learn are measured."""

    def __init__(self, inner: Learner, speed: Speed) -> None:
        super().__init__(inner)
        self._speed = speed

    def learn(self, view: View, budget: Budget) -> None:
        """Let the inner learner learn, and note how long it took."""
        samples, waiting, began = budget.totals["samples"], WAITING.seconds, time.perf_counter()
        super().learn(view, budget)
        seconds = time.perf_counter() - began
        self._speed.note(budget.totals["samples"] - samples, seconds, WAITING.seconds - waiting)


class _Stop:
    """Ends a run at the second step of the period in which it is to be interrupted."""

    def __init__(self) -> None:
        self._learning = False
        self._saves = 0

    def watch(self, event: Event) -> None:
        """Note which period is learned."""
        if event.kind != "training":
            self._learning = event.kind == "learning" and event.period == _INTERRUPTED

    def save(self) -> None:
        """Stop, unless this is the first checkpoint of the call."""
        self._saves += self._learning
        if self._saves > 1:
            raise Stop


class _Interrupted(Wrapper):
    """A learner that is interrupted when it is saved."""

    def __init__(self, inner: Learner, stop: _Stop) -> None:
        super().__init__(inner)
        if isinstance(inner, SavingLearner):
            write = inner.save

            def save(folder: Path) -> None:
                stop.save()
                write(folder)

            self.save = save
