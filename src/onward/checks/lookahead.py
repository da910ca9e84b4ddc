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
