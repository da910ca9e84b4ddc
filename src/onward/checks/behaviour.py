"""Checks of how a method behaves: its errors, its seed, its predictions, what it touches."""

from dataclasses import replace

import numpy as np

from onward.budget import Budget
from onward.checks.digests import digest
from onward.checks.method_subject import NO_END, MethodSubject, let_learn, observe
from onward.checks.report import Skipped, expected
from onward.checks.trace import Stop, Trace, saved, trace
from onward.checks.wrapper import Wrapper
from onward.errors import BudgetSpentError, LookAheadError
from onward.loop import run
from onward.turns import Event
from onward.types import Array, Call, Learner, Samples, Table, View
from onward.view import rows_shown


def runs_to_the_end(subject: MethodSubject) -> str:
    """Every period is learned and predicted without an error."""
    error = subject.observed.error
    if error is not None:
        raise expected("a run to the last period", f"{type(error).__name__}: {error}", "Mend it")
    return f"{len(subject.clean.states)} periods"


def outputs_decode(subject: MethodSubject) -> None:
    """Every prediction is one decision per sample that the kind of task can decode."""
    if subject.observed.log.undecodable is not None:
        raise expected("outputs that decode", str(subject.observed.log.undecodable), "Mend predict")


def asks_only_for_the_present(subject: MethodSubject) -> None:
    """No label is read in predict, no view after its call, no old sample that is not held."""
    if isinstance(subject.observed.error, LookAheadError):
        raise expected(
            "a learner that asks for what it may see", str(subject.observed.error), "Do without it"
        )


def keeps_to_the_budget(subject: MethodSubject) -> None:
    """No more is spent than the protocol allows."""
    if isinstance(subject.observed.error, BudgetSpentError):
        raise expected("a run within the budget", str(subject.observed.error), "See Budget.left")


def seeded_runs_are_identical(subject: MethodSubject) -> None:
    """Two runs with one seed give the same outputs and scores, to the last bit."""
    same(
        subject.clean,
        subject.again,
        "the same again with the same seed",
        "Draw everything from a generator made of setting.seed, never from a global one",
    )


def another_seed_is_another_run(subject: MethodSubject) -> None:
    """Another seed has another run folder."""
    names: list[str] = []
    for seed in (subject.seed, subject.seed + 1):

        def note(event: Event) -> None:
            names.append(event.spec.hash)
            raise Stop

        try:
            run(subject.benchmark, subject.chosen, seed, watch=note)
        except Stop:
            continue
    if len(set(names)) < len(names):
        raise expected("two names for two seeds", f"{names[0]} for both", "Keep seed in the spec")


def learners_share_nothing(subject: MethodSubject) -> None:
    """Another learner of the same method, learning alongside, changes nothing."""
    clean, table, setting = subject.clean, subject.benchmark.table, subject.setting
    other = replace(setting, seed=setting.seed + 1)
    together = trace(
        subject.benchmark,
        subject.chosen,
        subject.seed,
        wrap=lambda learner: _Alongside(
            learner, subject.chosen.build(other), table, Budget(subject.limits)
        ),
    )
    same(
        clean,
        together,
        "the same beside another learner",
        "Keep state in the learner: not in its class, its module or a global generator",
    )


def predict_changes_nothing(subject: MethodSubject) -> str:
    """Predicting again gives the same, and leaves no trace in what is learned later."""
    clean, wrappers = subject.clean, list[_Repeating]()

    def wrap(learner: Learner) -> Learner:
        wrappers.append(_Repeating(learner))
        return wrappers[-1]

    repeated = trace(subject.benchmark, subject.chosen, subject.seed, wrap=wrap)
    advice = "Predict in evaluation mode: update no statistics, draw nothing, remember nothing"
    if wrappers[0].problem:
        raise expected("predict to change nothing", wrappers[0].problem, advice)
    same(clean, repeated, "the same however often it predicts", advice)
    return "" if clean.states.get(0) else "seen by its outputs, for it cannot save"


def learn_leaves_its_view_alone(subject: MethodSubject) -> None:
    """Learning changes no input, label or row that was shown."""
    _nothing_noted(
        subject,
        "learn_leaves_its_view_alone",
        "rows, labels and inputs as they were",
        "Work on copies of labels and rows",
    )


def views_die_with_their_call(subject: MethodSubject) -> None:
    """No view can be read once its call has returned."""
    _nothing_noted(
        subject,
        "views_die_with_their_call",
        "LookAheadError from a view whose call is over",
        "Mend the loop that made the view",
    )


def reads_only_what_it_is_shown(subject: MethodSubject) -> None:
    """No input is read but of samples that are shown, or that the budget holds."""
    _nothing_noted(
        subject,
        "reads_only_what_it_is_shown",
        "no input read past the view",
        "Read through view.inputs() and view.also(rows, labels), not past them",
    )


def holds_no_stream(subject: MethodSubject) -> None:
    """No benchmark, stream, table, view or memory map can be reached from the learner."""
    _nothing_noted(
        subject,
        "holds_no_stream",
        "a learner that holds nothing of the loop's, and no file",
        "Keep the numbers you need, not the thing you got them from",
    )


def opens_no_file(subject: MethodSubject) -> str:
    """No file is opened for reading while the method learns or predicts."""
    log = subject.observed.log
    opened = set(log.audit.opened)
    if opened and not any(one.by_python for one in opened):
        # The system tells which file was read, not by whom: another process does not come back.
        opened &= set(observe(subject.benchmark, subject.chosen, subject.seed).log.audit.opened)
    if opened:
        first = min(opened, key=lambda one: (one.during, one.path))
        raise expected(
            "no file opened for reading while it learns or predicts",
            f"{first.path} while {first.during}"
            + ("" if first.by_python else ", past Python")
            + (f", and {len(opened) - 1} more" if len(opened) > 1 else ""),
            "Learn from the view alone; read settings when the learner is made",
        )
    if subject.observed.error is not None:
        raise Skipped(NO_END)
    return log.audit.note


def same(clean: Trace, other: Trace, what: str, advice: str) -> None:
    """Raise unless two runs gave the same outputs and scores."""
    for kind, before, after in (
        ("outputs", clean.outputs, other.outputs),
        ("scores", clean.scores, other.scores),
    ):
        differ = [cell for cell in before if after.get(cell) != before[cell]]
        if differ:
            learned, test = differ[0]
            where = f"period {test}" if test >= 0 else "a static test"
            raise expected(what, f"other {kind} on {where} after learning period {learned}", advice)


def _nothing_noted(subject: MethodSubject, check: str, what: str, advice: str) -> None:
    noted = subject.observed.log.problems[check]
    if noted:
        more = f" ({len(noted)} times in all)" if len(noted) > 1 else ""
        raise expected(what, noted[0] + more, advice)
    if subject.observed.error is not None:
        raise Skipped(NO_END)


class _Repeating(Wrapper):
    """Predicts twice, and compares."""

    problem = ""

    def predict(self, view: View) -> object:
        """Return what the inner learner predicts the second time."""
        before = saved(self.inner)
        first, second = self.inner.predict(view), self.inner.predict(view)
        if digest(first) != digest(second):
            self.problem = self.problem or "other outputs when the same view is predicted again"
        elif saved(self.inner) != before:
            self.problem = self.problem or "another saved state after predict than before"
        return second


class _Alongside(Wrapper):
    """Lets another learner see everything first."""

    def __init__(self, inner: Learner, other: Learner, table: Table, budget: Budget) -> None:
        super().__init__(inner)
        self._other, self._table, self._budget = other, table, budget

    def learn(self, view: View, budget: Budget) -> None:
        """Let both learn."""
        shown, beside = (
            Samples(part.rows.copy(), np.array(part.labels)) for part in (view, view.validation)
        )
        let_learn(self._other, self._table, shown, beside, view.classes, self._budget)
        self.inner.learn(view, budget)

    def predict(self, view: View) -> object:
        """Let both predict."""
        call, nothing = Call(None), np.zeros(len(view), np.int64)
        samples = Samples(rows_shown(view).copy(), nothing)
        self._other.predict(View(self._table, samples, view.classes, call))
        call.over = True
        outputs: Array = self.inner.predict(view)
        return outputs
