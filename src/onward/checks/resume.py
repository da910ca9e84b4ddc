"""The check of resuming: a run that is stopped anywhere ends as if nothing had happened."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from onward.checks.behaviour import same
from onward.checks.method_subject import MethodSubject
from onward.checks.report import expected
from onward.checks.trace import Stop, Trace, note_tests, wrapped
from onward.checks.wrapper import Wrapper
from onward.loop import run
from onward.results.record import RunRecord
from onward.turns import Event
from onward.types import Learner, SavingLearner, View

# After how many saves an attempt is stopped. On a long run, stopping at every single save would
# take longer than anyone waits.
_AFTER = (*[1] * 12, *(2**power for power in range(1, 21)))
_BETWEEN = "before, in and after the tests of every period"
_INSIDE = "while it learns"
_ADVICE = (
    "Save all that continuing needs: weights, optimiser, memory, counters, generators, and how far "
    "a call had come if budget.checkpoint is called inside it; in a gradient method, name it in "
    "`saved`, and in `step_state` if it changes from step to step"
)
_COUNTED = ("samples", "iterations", "macs", "parameters", "stored_samples", "stored_bytes")


def resumed_runs_equal_uninterrupted_ones(subject: MethodSubject) -> str:
    """However often it is stopped and resumed, a run ends with the same bytes and counts."""
    _ = subject.clean  # without a run that ends, there is nothing to resume
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        whole = _Run(subject, root / "whole", _Stops())
        whole.attempt()
        kinds = ("learned", "predicting", "tested")
        at = [(kind, period) for period in whole.found.states for kind in kinds]
        between = _Run(subject, root / "between", _Stops(at=iter(at)))
        between.until_done(len(at) + 1, _BETWEEN)
        _same_folder(whole, between, _BETWEEN)
        if not whole.stops.saves:
            return f"stopped {between.stopped} times; replayed, for it cannot save"
        inside = _Run(subject, root / "inside", _Stops(after=iter(_AFTER)), checkpoint_seconds=0)
        inside.until_done(len(_AFTER) + 1, _INSIDE)
        _same_folder(whole, inside, _INSIDE)
    return f"stopped {between.stopped} times between calls and {inside.stopped} times inside"


@dataclass
class _Stops:
    """Where to stop: each attempt at the next event, or after the next number of saves."""

    at: Iterator[tuple[str, int]] = field(default_factory=lambda: iter(()))
    after: Iterator[int] = field(default_factory=lambda: iter(()))
    event: tuple[str, int] | None = None
    allowed: int | None = None
    saves: int = 0
    period: int | None = None

    def begin(self) -> None:
        """Begin an attempt."""
        self.event, self.allowed = next(self.at, None), next(self.after, None)
        self.saves, self.period = 0, None

    def happened(self, kind: str, period: int | None) -> None:
        """Stop if this is the moment."""
        if self.event == (kind, period):
            raise Stop

    def save(self) -> None:
        """Stop in the middle of this save if earlier ones of the attempt are enough."""
        self.saves += 1
        if self.allowed is not None and self.saves > self.allowed:
            raise Stop


class _Run:
    """One run in one folder, in as many attempts as it takes."""

    def __init__(
        self,
        subject: MethodSubject,
        out: Path,
        stops: _Stops,
        checkpoint_seconds: float = float("inf"),
    ) -> None:
        self.found = Trace()
        self.record: RunRecord | None = None
        self.stopped = 0
        self.stops = stops
        self._subject, self._out, self._seconds = subject, out, checkpoint_seconds

    def attempt(self) -> bool:
        """Run until a stop or the end; say whether it was the end."""
        self.stops.begin()
        subject = self._subject

        def watch(event: Event) -> None:
            self.stops.period = event.period
            if event.kind == "learned" and event.period is not None:
                self.found.states[event.period] = None
            if event.kind == "tested":
                note_tests(self.found, event)
            self.stops.happened(event.kind, event.period)

        method = wrapped(subject.chosen, lambda inner: _Interrupted(inner, self.stops))
        try:
            self.record = run(
                subject.benchmark,
                method,
                subject.seed,
                self._out,
                checkpoint_seconds=self._seconds,
                watch=watch,
            )
        except Stop:
            self.stopped += 1
            return False
        return True

    def until_done(self, attempts: int, where: str) -> None:
        """Attempt until the run is complete; raise if it does not get on."""
        if not any(self.attempt() for _ in range(attempts)):
            raise expected(
                f"a run that gets on though it is stopped {where}",
                f"none that ends in {attempts} attempts",
                _ADVICE,
            )


class _Interrupted(Wrapper):
    """A learner that stops in `predict` or in `save` when it is time to."""

    def __init__(self, inner: Learner, stops: _Stops) -> None:
        super().__init__(inner)
        self._stops = stops
        if isinstance(inner, SavingLearner):
            write = inner.save

            def save(folder: Path) -> None:
                stops.save()
                write(folder)

            self.save = save

    def predict(self, view: View) -> object:
        """Return what the inner learner predicts, unless it is time to stop."""
        self._stops.happened("predicting", self._stops.period)
        answer: object = self.inner.predict(view)
        return answer


def _same_folder(whole: _Run, other: _Run, where: str) -> None:
    what = f"the same from a run that was stopped {where}"
    same(whole.found, other.found, what, _ADVICE)
    before, after = _bytes(whole), _bytes(other)
    differ = sorted(name for name in before | after if before.get(name) != after.get(name))
    if differ:
        raise expected(what, f"another {differ[0]}", _ADVICE)
    costs = [run.record.cost if run.record else None for run in (whole, other)]
    for name in _COUNTED:
        numbers = [getattr(cost, name, None) for cost in costs]
        if numbers[0] != numbers[1]:
            raise expected(
                what,
                f"{numbers[1]} {name} counted instead of {numbers[0]}",
                "Count work that was lost and done again once",
            )


def _bytes(run: _Run) -> dict[str, bytes]:
    folder = run.record.path if run.record else None
    if folder is None:
        return {}
    files = [folder / "scores.jsonl", *sorted((folder / "predictions").glob("*"))]
    return {path.name: path.read_bytes() for path in files if path.exists()}
