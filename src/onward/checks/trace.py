"""What one run did, to the last bit, so that two runs can be compared."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onward.checks.digests import digest, digest_folder
from onward.checks.wrapper import Reporting
from onward.learners import Chosen
from onward.loop import run
from onward.results.schema import Cost
from onward.turns import Event
from onward.types import Benchmark, Learner, SavingLearner

Wrap = Callable[[Learner], Learner]


class Stop(Exception):
    """Ends a run from outside, as a kill would."""


@dataclass
class Trace:
    """One run by digests.

    ``states`` are what the learner saved after each period, None if it cannot save. Outputs and
    scores are by (learned_upto, test); static tests have negative numbers. ``cost`` is what the run
    counted, if it was not stopped.
    """

    states: dict[int, str | None] = field(default_factory=dict)
    outputs: dict[tuple[int, int], str] = field(default_factory=dict)
    scores: dict[tuple[int, int], str] = field(default_factory=dict)
    cost: Cost | None = None

    def upto(self, period: int) -> dict[str, Any]:
        """Return what had come out by this period on tests that had come by then."""
        return {
            "saved states": {p: state for p, state in self.states.items() if p <= period},
            "outputs": _past(self.outputs, period),
            "scores": _past(self.scores, period),
        }


def trace(
    benchmark: Benchmark,
    chosen: Chosen,
    seed: int,
    *,
    wrap: Wrap = lambda learner: learner,
    upto: int | None = None,
    limits: dict[str, float] | None = None,
    watch: Callable[[Event], None] = lambda event: None,
) -> Trace:
    """Run a method and name what it does.

    Its learner may be wrapped, and its run be stopped after period `upto`.
    """
    found = Trace()

    def note(event: Event) -> None:
        watch(event)
        if event.period is None:
            return
        if event.kind == "learned" and event.learner is not None:
            found.states[event.period] = saved(event.learner)
        if event.kind == "tested":
            note_tests(found, event)
            if event.period == upto:
                raise Stop

    try:
        record = run(
            benchmark,
            wrapped(chosen, wrap),
            seed,
            limits=limits,
            keep_predictions=False,
            allow_unmetered=True,
            checkpoint_seconds=float("inf"),
            watch=note,
        )
    except Stop:
        return found
    found.cost = record.cost
    return found


def wrapped(chosen: Chosen, wrap: Wrap) -> Chosen:
    """Return a method whose learners are wrapped, and tell of their own mistakes."""
    return replace(chosen, build=lambda setting: wrap(Reporting(chosen.build(setting))))


def saved(learner: Learner) -> str | None:
    """Name what a learner saves; None if it cannot."""
    if not isinstance(learner, SavingLearner):
        return None
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder))
        return digest_folder(Path(folder))


def testing_all(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark that tests all periods after each one: there is a past to compare."""
    return replace(benchmark, protocol=replace(benchmark.protocol, tests="all"))


def note_tests(found: Trace, event: Event) -> None:
    """Note the outputs and scores of the tests that an event tells of."""
    start, learned, static = 0, event.period or 0, -1
    for score in event.scores:
        end = start + score.samples
        test = static if score.tested_on is None else score.tested_on
        static -= score.tested_on is None
        found.outputs[learned, test] = digest(event.outputs[start:end])
        found.scores[learned, test] = digest(score.scores)
        start = end


def _past(cells: dict[tuple[int, int], str], period: int) -> dict[tuple[int, int], str]:
    return {
        (learned, test): value
        for (learned, test), value in cells.items()
        if learned <= period and 0 <= test <= period
    }
