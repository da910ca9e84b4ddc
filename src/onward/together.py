"""Several runs of one stream and seed in lock step, each in its own folder."""

import contextlib
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onward.benchmarks import retrained
from onward.budget import Budget
from onward.errors import DivergedError
from onward.learners import choose
from onward.loop import Loop
from onward.results.record import RunRecord
from onward.turns import Turn, Watch, noted
from onward.types import Benchmark, View


@dataclass(frozen=True)
class Variant:
    """What one run of several does differently from the others.

    Parameters
    ----------
    method
        A name of the catalogue, ``path/to/file.py:Name``, or any learner.
    options
        Keyword arguments of the method.
    training
        Numbers of the recipe that are to be others, such as ``{"learning_rate": 0.3}``.
    limits
        A budget beyond the protocol's.
    tuned
        Where the options were chosen and what that cost, for the record.
    allow_unmetered
        As in `onward.run`.
    """

    method: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    tuned: Mapping[str, Any] | None = None
    allow_unmetered: bool = False


def run_together(
    benchmark: Benchmark,
    variants: Sequence[Variant],
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    *,
    keep_predictions: bool = True,
    checkpoint_seconds: float = 30.0,
    watch: Watch = lambda event: None,
) -> list[RunRecord]:
    """Run variants on one stream, as `onward.run` would one after the other, in less time.

    Wherever gradient learners train on the same batches, their models are trained side by side.
    Every run has the folder, the checkpoints, the budget and the scores that it would have alone;
    the time that they share is charged to them in equal parts. Runs that are complete are left
    alone, and those that are behind after an interruption catch up first.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    variants
        One per run.
    seed, out, keep_predictions, checkpoint_seconds, watch
        As in `onward.run`.

    Examples
    --------
    >>> import onward
    >>> rates = [Variant("finetune", training={"learning_rate": rate}) for rate in (0.1, 1.0)]
    >>> records = run_together(onward.load("clear", data="emoji"), rates)
    >>> [record.spec.recipe["learning_rate"] for record in records]
    [0.1, 1.0]
    """
    stream = benchmark.stream(seed)
    made = [
        Loop(
            retrained(benchmark, variant.training),
            stream,
            choose(variant.method, variant.options, benchmark),
            seed,
            variant.limits,
            tuned=variant.tuned,
            keep_predictions=keep_predictions,
            allow_unmetered=variant.allow_unmetered,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        )
        for variant in variants
    ]
    # Two variants that ask for the same are one run.
    loops = {loop.spec.hash: loop for loop in made}
    with contextlib.ExitStack() as stack:
        # In one order for everybody: two processes cannot wait for each other.
        for name in sorted(loops):
            stack.enter_context(loops[name].opened(out))
        _in_lock_step([stack.enter_context(contextlib.closing(loops[n].play())) for n in loops])
        return [loops[loop.spec.hash].record() for loop in made]


def _in_lock_step(plays: Sequence[Generator[Turn, None, None]]) -> None:
    """Take the turns of all runs, those that stand at one place of the stream together.

    A run that diverges leaves the others to their end; then it is told.
    """
    diverged: list[DivergedError] = []

    def next_turn(
        play: Generator[Turn, None, None], failed: DivergedError | None = None
    ) -> Turn | None:
        try:
            return next(play, None) if failed is None else play.throw(failed)
        except DivergedError as error:
            diverged.append(error)
            return None

    due = {play: turn for play in plays if (turn := next_turn(play))}
    while due:
        at = min(turn.at for turn in due.values())
        now = {play: turn for play, turn in due.items() if turn.at == at}
        failures = _take(list(now.values()))
        for play, failed in zip(now, failures, strict=True):
            turn = next_turn(play, failed)
            if turn is None:
                del due[play]
            else:
                due[play] = turn
    if diverged:
        raise diverged[0]


def _take(turns: Sequence[Turn]) -> list[DivergedError | None]:
    """Make the calls of learn; return for each why it went no further, if it diverged."""
    from onward.train.learner import GradientLearner, learn_together  # torch, when it is needed

    calls: dict[int, tuple[GradientLearner, View, Budget]] = {}
    for place, turn in enumerate(turns):
        if isinstance(turn.learner, GradientLearner):
            calls[place] = (turn.learner, turn.view, turn.budget)
        else:
            turn.take()
    with noted("; ".join(turns[place].where for place in calls)):
        found = dict(zip(calls, learn_together(list(calls.values())), strict=True))
    failures = [found.get(place) for place in range(len(turns))]
    return [error and turn.located(error) for turn, error in zip(turns, failures, strict=True)]
