"""The proof that a method sees only the past: take its future away, and nothing changes."""

from onward.checks.behaviour import same
from onward.checks.method_subject import MethodSubject
from onward.checks.report import CheckFailed, Skipped, expected
from onward.checks.trace import Trace


def fresh_processes_agree(subject: MethodSubject) -> str:
    """Another process gives the same run, whatever ran there before."""
    _need_repeatable(subject)
    control = subject.futures.control
    if isinstance(control, str):
        raise expected("the same run in a fresh process", control, _PROCESS)
    same(subject.testing_all, control, "the same run in a fresh process", _PROCESS)
    return subject.where


def sees_only_the_past(subject: MethodSubject) -> str:
    """Noise in place of all later samples changes no state, output or score up to a period.

    The runs with noise are made in a fresh process, which has not seen the real future. What a
    learner brought along from before the run, such as its own copy of the data, is the same with
    noise and without: that is for `holds_no_stream`, `opens_no_file` and the reader to find.
    """
    _need_repeatable(subject)
    clean, noised = subject.testing_all, subject.futures.noised
    for upto, found in enumerate(noised):
        difference = _difference(clean, found, upto, with_state=subject.saves_repeatably)
        if difference:
            if not subject.independent_of_the_process:
                raise Skipped("another process gives another run, see fresh_processes_agree")
            raise expected(
                f"the same up to period {upto} with noise after it",
                difference,
                "Learn from the view alone: nothing that comes later may be within reach",
            )
    return f"{len(noised)} futures, {subject.where}"


def uses_no_hidden_label(subject: MethodSubject) -> str:
    """Wrong labels in all tests, and in later periods, change no state and no output.

    The run is made in a process that never had the right ones, so a learner that finds labels on
    the stack, among Python's objects or in a view's private attributes gives other outputs.
    """
    _need_repeatable(subject)
    found, where = subject.run_with_scrambled_labels
    upto, clean = subject.last_compared, subject.testing_all
    if isinstance(found, str):
        difference = found
    else:
        learned = {cell: value for cell, value in clean.outputs.items() if cell[0] <= upto}
        states = clean.upto(upto)["saved states"]
        differ = {
            "outputs": found.outputs != learned,
            "saved states": subject.saves_repeatably and found.states != states,
        }
        difference = " and ".join(kind for kind, is_other in differ.items() if is_other)
        difference = f"other {difference}" if difference else ""
    if difference:
        if not subject.independent_of_the_process:
            raise Skipped("another process gives another run, see fresh_processes_agree")
        raise expected(
            "the same with wrong labels in all tests and after the last period learned",
            difference,
            "Learn from view.labels alone: no label of a test may be within reach",
        )
    return where


_PROCESS = "Depend neither on the hash of a text nor on what a module kept from an earlier run"


def _need_repeatable(subject: MethodSubject) -> None:
    try:
        same(subject.clean, subject.again, "", "")
    except CheckFailed:
        raise Skipped("runs with one seed differ, see seeded_runs_are_identical") from None


def _difference(clean: Trace, found: Trace | str, upto: int, *, with_state: bool) -> str:
    if isinstance(found, str):
        return found
    before, after = clean.upto(upto), found.upto(upto)
    kinds = [kind for kind in before if kind != "saved states" or with_state]
    differ = [kind for kind in kinds if before[kind] != after[kind]]
    return f"other {' and '.join(differ)}" if differ else ""
