"""What the checks of a method look at: the runs that several of them share are made once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from onward.checks.digests import digest_rows
from onward.checks.fresh import call_fresh
from onward.checks.futures import Futures, try_futures, try_present
from onward.checks.noise import places, scramble_hidden_labels
from onward.checks.observer import Log, Observed, guarded
from onward.checks.report import Skipped
from onward.checks.trace import Trace, testing_all, trace
from onward.errors import OnwardError
from onward.learners import Chosen, choose
from onward.types import Benchmark, Budget, Call, Learner, Samples, Setting, Table, View

NO_END = "the run does not come to its end: see the first failure above"


@dataclass(frozen=True, eq=False)
class MethodSubject:
    """A method, and the benchmark and seed to run it with."""

    method: Any
    options: Mapping[str, Any]
    benchmark: Benchmark
    seed: int
    chosen: Chosen = field(init=False)

    def __post_init__(self) -> None:
        found = choose(self.method, self.options, self.benchmark)
        object.__setattr__(self, "chosen", found)

    @property
    def setting(self) -> Setting:
        """What the method is told before it sees anything."""
        return self.benchmark.setting(self.seed)

    @property
    def limits(self) -> Mapping[str, float]:
        """What the method may spend."""
        return self.benchmark.protocol.limits_of(self.chosen.name, {})

    @cached_property
    def observed(self) -> "Observation":
        """The first run, watched, whether it came to an end or not."""
        return observe(self.benchmark, self.chosen, self.seed)

    @cached_property
    def clean(self) -> Trace:
        """The first run, if it came to an end; a check that needs it is skipped if not."""
        if self.observed.trace is None:
            raise Skipped(NO_END)
        return self.observed.trace

    @cached_property
    def again(self) -> Trace:
        """The same run once more, not watched."""
        return trace(self.benchmark, self.chosen, self.seed)

    @property
    def saves_repeatably(self) -> bool:
        """Whether two equal runs save equal bytes, so that states can be compared."""
        return self.clean.states == self.again.states

    @cached_property
    def testing_all(self) -> Trace:
        """The same run, tested on all periods whatever the protocol: there is a past to compare."""
        return trace(testing_all(self.benchmark), self.chosen, self.seed)

    @cached_property
    def _futures(self) -> tuple[Futures, str]:
        benchmark = testing_all(self.benchmark)
        what = (self.method, dict(self.options), benchmark)
        where = places(benchmark, benchmark.stream(self.seed))
        return call_fresh(try_futures, *what, where, self.seed)

    @property
    def futures(self) -> Futures:
        """What it does with other futures, and with the real one, in a fresh process."""
        return self._futures[0]

    @property
    def where(self) -> str:
        """Where other futures were tried, for people."""
        return self._futures[1]

    @property
    def last_compared(self) -> int:
        """The last period that is learned where other labels are tried: one is left as future."""
        return max(len(self.benchmark.stream(self.seed)) - 2, 0)

    @cached_property
    def run_with_scrambled_labels(self) -> tuple[Trace | str, str]:
        """A run with wrong labels in all tests and later periods, in a process of its own."""
        upto = self.last_compared
        benchmark = scramble_hidden_labels(testing_all(self.benchmark), self.seed, upto)
        what = (self.method, dict(self.options), benchmark)
        return call_fresh(try_present, *what, self.seed, upto)

    @cached_property
    def independent_of_the_process(self) -> bool:
        """Whether a fresh process gives the same run, if not after others then alone."""
        clean, control = self.testing_all.outputs, self.futures.control
        if isinstance(control, Trace) and control.outputs == clean:
            return True
        # What a module kept from the runs with noise can make the difference.
        what = (self.method, dict(self.options), testing_all(self.benchmark))
        alone, _ = call_fresh(try_present, *what, self.seed)
        return isinstance(alone, Trace) and alone.outputs == clean


def let_learn(
    learner: Learner,
    table: Table,
    shown: Samples,
    validation: Samples,
    classes: tuple[str, ...],
    budget: Budget,
) -> None:
    """Make one call of `learn`, as the loop would."""
    call = Call(budget)
    budget.open(np.concatenate([shown.rows, validation.rows]))
    learner.learn(View(table, shown, classes, call, validation=validation), budget)
    call.over = True


@dataclass(frozen=True)
class Observation:
    """A watched run: what it did, what was noted, and the error that ended it, if one did."""

    trace: Trace | None
    log: Log
    error: OnwardError | None


def observe(benchmark: Benchmark, chosen: Chosen, seed: int) -> Observation:
    """Run a method under observation."""
    log = Log(benchmark, benchmark.table)
    rows = np.arange(len(benchmark.table))
    before = digest_rows(log.column, rows)
    done, ended_by = None, None
    try:
        done = trace(
            guarded(benchmark, log),
            chosen,
            seed,
            wrap=lambda learner: Observed(learner, log, benchmark.task),
            watch=log.watch,
        )
    except OnwardError as error:
        ended_by = error
    finally:
        log.audit.close()
    if digest_rows(log.column, rows) != before:
        log.note("learn_leaves_its_view_alone", "another table at the end of the run")
    return Observation(done, log, ended_by)
