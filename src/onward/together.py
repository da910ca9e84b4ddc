"""Several runs of one stream and seed in lock step, each in its own folder."""

import contextlib
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onward.benchmarks import retrained
from onward.budget import Budget
from onward.distributed import contained
from onward.failures import FailedRun, all_or_raise
from onward.learners import choose, name_of
from onward.loop import Loop
from onward.results.record import RunRecord
from onward.turns import Turn, Watch
from onward.types import Benchmark, View

Play = Generator[Turn, None, None]


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
        Numbers of the recipe that are to be others, such as ``{"lr": 0.3}``.
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
    log: Sequence[str] = (),
    log_every: int | None = None,
    watch: Watch = lambda event: None,
) -> list[RunRecord]:
    """Run variants on one stream, as `onward.run` would one after the other, in less time.

    Wherever gradient learners train on the same batches, their models are trained side by side.
    Every run has the folder, the checkpoints, the budget and the scores that it would have alone;
    the time that they share is charged to them in equal parts. Runs that are complete are left
    alone, and those that are behind after an interruption catch up first.

    A run that raises an exception does not end the others. Once they are finished, a
    `onward.failures.RunsFailedError` has the records of those and the failures.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    variants
        One per run.
    seed, out, keep_predictions, checkpoint_seconds, log, log_every, watch
        As in `onward.run`.

    Examples
    --------
    >>> import onward
    >>> rates = [Variant("finetune", training={"lr": rate}) for rate in (0.1, 1.0)]
    >>> records = run_together(onward.load("clear", data="emoji"), rates)
    >>> [record.spec.recipe["lr"] for record in records]
    [0.1, 1.0]
    """
    stream = benchmark.stream(seed)
    # By the place of the variant: its run, or why there is none.
    made: list[Loop | FailedRun] = []
    for variant in variants:
        try:
            loop = Loop(
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
                log=log,
                log_every=log_every,
            )
        except Exception as error:  # noqa: BLE001 (it is reported when the others are finished)
            made.append(FailedRun.of(contained(error), name_of(variant.method), seed))
        else:
            made.append(loop)
    # Two variants that ask for the same are one run.
    loops = {loop.spec.hash: loop for loop in made if isinstance(loop, Loop)}
    failed: dict[str, FailedRun] = {}
    with contextlib.ExitStack() as stack:
        plays: dict[Play, Loop] = {}
        # In one order for everybody: two processes cannot wait for each other.
        for name, loop in sorted(loops.items()):
            try:
                stack.enter_context(loop.opened(out))
            except Exception as error:  # noqa: BLE001 (it is reported when the others are finished)
                failed[name] = loop.failed(contained(error), out)
            else:
                plays[stack.enter_context(contextlib.closing(loop.play()))] = loop

        def fail(play: Play, error: Exception) -> None:
            failed[plays[play].spec.hash] = plays[play].failed(error, out)

        _in_lock_step(list(plays), fail)

        def result(run: Loop | FailedRun) -> RunRecord | FailedRun:
            if isinstance(run, FailedRun):
                return run
            return failed.get(run.spec.hash) or loops[run.spec.hash].record()

        return all_or_raise([result(run) for run in made])


def _in_lock_step(plays: Sequence[Play], fail: Callable[[Play, Exception], None]) -> None:
    """Take the turns of all runs, those that stand at one place of the stream together.

    A run that raises an exception leaves the others to their end; `fail` is called with both.
    """

    def next_turn(play: Play, failure: Exception | None = None) -> Turn | None:
        try:
            return next(play, None) if failure is None else play.throw(failure)
        except Exception as error:  # noqa: BLE001 (it is passed on)
            fail(play, contained(error))
            return None

    due = {play: turn for play in plays if (turn := next_turn(play))}
    while due:
        at = min(turn.at for turn in due.values())
        now = {play: turn for play, turn in due.items() if turn.at == at}
        failures = _take(list(now.values()))
        for play, failure in zip(now, failures, strict=True):
            turn = next_turn(play, failure)
            if turn is None:
                del due[play]
            else:
                due[play] = turn


def _take(turns: Sequence[Turn]) -> list[Exception | None]:
    """Make the calls of learn; return the exception of each that failed."""
    from onward.train.learner import GradientLearner, learn_together  # torch, when it is needed

    calls: dict[int, tuple[GradientLearner, View, Budget]] = {}
    failures: list[Exception | None] = [None] * len(turns)
    for place, turn in enumerate(turns):
        if isinstance(turn.learner, GradientLearner):
            calls[place] = (turn.learner, turn.view, turn.budget)
            continue
        try:
            turn.take()
        except Exception as error:  # noqa: BLE001 (it is returned)
            failures[place] = contained(error)
    for place, failure in zip(calls, learn_together(list(calls.values())), strict=True):
        failures[place] = failure
    return failures
