"""A learner under observation: it does what it always does, and everything around is noted."""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from onward.budget import Budget
from onward.checks.audit import Audit
from onward.checks.digests import digest
from onward.checks.reachable import Copies, future_within_reach
from onward.checks.wrapper import Wrapper
from onward.errors import LookAheadError, OnwardError
from onward.turns import Event
from onward.types import Array, Benchmark, Column, Learner, Rows, Table, Task, View
from onward.view import rows_shown


class Log:
    """What was noted during one run, by the name of the check that it belongs to."""

    def __init__(self, benchmark: Benchmark, table: Table) -> None:
        self.problems: defaultdict[str, list[str]] = defaultdict(list)
        self.views: list[Rows] = []
        self.known: list[int] = []
        self.audit = Audit(benchmark.files)
        self.column: Column = table.wide["input"]
        self.period: int | None = None
        self.undecodable: OnwardError | None = None
        self._allowed: Rows | None = None
        self._doing = ""
        self._dead: View | None = None

    def note(self, check: str, problem: str) -> None:
        """Note a problem once."""
        if problem not in self.problems[check]:
            self.problems[check].append(problem)

    def watch(self, event: Event) -> None:
        """Keep up with the loop."""
        if event.kind == "learning":
            self.period = event.period
        if event.kind in ("learned", "tested"):
            self.expect_dead()

    def expect_dead(self) -> None:
        """Note if the last view can still be read though its call is over."""
        view, self._dead = self._dead, None
        if view is not None:
            with contextlib.suppress(LookAheadError):
                view.inputs()
                self.note("views_die_with_their_call", f"a live view after {self._doing}")

    @contextlib.contextmanager
    def during(self, what: str, allowed: Rows, view: View) -> Iterator[None]:
        """Watch a call that may read these rows."""
        self.expect_dead()
        self._doing = f"{what} period {self.period}"
        self._allowed = allowed
        try:
            with self.audit.on(self._doing):
                yield
        finally:
            self._allowed = None
            self._dead = view

    def reads(self, rows: Rows | None) -> None:
        """Take note of rows that are read; None stands for a whole column."""
        if self._allowed is None:
            return
        strangers = None if rows is None else np.setdiff1d(rows, self._allowed)
        if strangers is None or len(strangers):
            which = "the whole column" if strangers is None else f"row {strangers[0]}"
            more = f" and {len(strangers) - 1} more" if strangers is not None else ""
            self.note("reads_only_what_it_is_shown", f"{which}{more} read while {self._doing}")


class GuardedColumn:
    """The column that learners see, with a note of who reads which row when."""

    def __init__(self, inner: Column, log: Log) -> None:
        self._inner, self._log = inner, log

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the inner column."""
        return self._inner.shape

    @property
    def dtype(self) -> Any:
        """The type of the inner column's values, where it says."""
        return getattr(self._inner, "dtype", None)

    def __getitem__(self, rows: Rows) -> Array:
        self._log.reads(np.arange(self.shape[0])[rows])
        with self._log.audit.paused():
            return self._inner[rows]

    def __getattr__(self, name: str) -> Any:
        # Also what numpy asks for to make an array of it.
        found = getattr(self.__dict__["_inner"], name)
        if name == "transformed":
            return partial(self._transformed, found)
        if name == "shuffled":  # an order, which reads nothing
            return found
        self._log.reads(None)
        return found

    def _transformed(
        self, inner: Callable[..., Array], rows: Rows, transform: Callable[..., Any], **how: bool
    ) -> Array:
        self._log.reads(rows)
        with self._log.audit.paused():
            return inner(rows, transform, **how)


class Observed(Wrapper):
    """A learner whose every call is watched."""

    def __init__(self, inner: Learner, log: Log, task: Task) -> None:
        super().__init__(inner)
        self._log, self._task = log, task
        self._learner = inner.inner if isinstance(inner, Wrapper) else inner
        sample = log.column[np.arange(1)]
        self._copies = Copies(sample.shape[1:], sample.dtype)

    def learn(self, view: View, budget: Budget) -> None:
        """Let the inner learner learn, and look at what it left behind."""
        log = self._log
        rows = view.rows.copy()
        log.views.append(rows)
        log.known.append(len(view.classes))
        beside = [rows_shown(part) for part in (view.unlabelled, view.validation)]
        shown = np.concatenate([rows, *beside])
        before = digest(view.rows, view.labels, log.column[shown])
        checkpoint = budget.checkpoint

        def unseen(learner: Learner, **options: bool) -> None:
            with log.audit.paused():
                checkpoint(learner, **options)

        budget.checkpoint = unseen
        held_before = budget.held
        with log.during("learning", np.union1d(shown, held_before), view):
            self.inner.learn(view, budget)
        if digest(view.rows, view.labels, log.column[shown]) != before:
            log.note("learn_leaves_its_view_alone", f"others after learning period {log.period}")
        self._look_inside("learn")
        # What was replayed in this call may still lie in a buffer; what is older was kept.
        held = np.union1d(held_before, budget.held).astype(np.int64)
        copies = self._copies.kept(self._learner, log.column[shown], log.column[held])
        # One prototype per class may well be the only sample of its class.
        if copies > len(view.classes):
            log.note(
                "keeps_only_what_it_holds",
                f"copies of {copies} earlier samples that the budget does not hold, after learning "
                f"period {log.period}",
            )

    def predict(self, view: View) -> Any:
        """Return what the inner learner predicts, once it is known to decode."""
        with self._log.during("predicting after", rows_shown(view).copy(), view):
            outputs = self.inner.predict(view)
        self._look_inside("predict")
        try:
            self._task.decode(outputs, view.classes, len(view))
        except OnwardError as error:
            self._log.undecodable = error
            raise
        return outputs

    def _look_inside(self, call: str) -> None:
        found = future_within_reach(self._learner)
        if found:
            self._log.note("holds_no_stream", f"{', '.join(found)} within its reach after {call}")


def guarded(benchmark: Benchmark, log: Log) -> Benchmark:
    """Return a benchmark whose inputs note who reads them."""
    table = benchmark.table.with_input(GuardedColumn(log.column, log))
    return replace(benchmark, prepare=lambda raw: table)
