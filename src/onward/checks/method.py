"""Checks of a method: whether it plays by the rules, whatever it learns."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from onward.checks import behaviour, lookahead, memory, online, resume
from onward.checks.method_subject import MethodSubject
from onward.checks.report import Report, run_checks
from onward.checks.tiny_editions import tiny_for
from onward.types import Benchmark

CHECKS: tuple[Callable[[MethodSubject], str | None], ...] = (
    behaviour.runs_to_the_end,
    behaviour.outputs_decode,
    behaviour.asks_only_for_the_present,
    behaviour.keeps_to_the_budget,
    behaviour.seeded_runs_are_identical,
    behaviour.another_seed_is_another_run,
    behaviour.learners_share_nothing,
    behaviour.predict_changes_nothing,
    behaviour.learn_leaves_its_view_alone,
    behaviour.views_die_with_their_call,
    behaviour.reads_only_what_it_is_shown,
    behaviour.holds_no_stream,
    behaviour.opens_no_file,
    memory.keeps_only_what_it_holds,
    memory.memory_stays_in_bounds,
    online.online_shows_each_sample_once,
    resume.resumed_runs_equal_uninterrupted_ones,
    lookahead.fresh_processes_agree,
    lookahead.sees_only_the_past,
    lookahead.uses_no_hidden_label,
)


def check_method(
    method: Any,
    benchmark: Benchmark | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    only: Collection[str] | None = None,
    raise_on_failure: bool = True,
) -> Report:
    """Check that a method is repeatable and resumable, and sees only what it may see when it may.

    Parameters
    ----------
    method
        A name of the catalogue, ``path/to/file.py:Name``, or any learner.
    benchmark
        What to run it on, some forty times; by default a tiny stream of four periods, of images
        where the method needs them.
    options
        Keyword arguments of the method.
    seed
        The runs' seed.
    only
        Names of the checks to make; by default all of them.
    raise_on_failure
        Whether to raise `CheckFailed`; otherwise the report says what failed.

    Examples
    --------
    >>> print(check_method("er", only=("seeded_runs_are_identical",)))
    method er: 1 passed, 0 failed, 0 skipped
      passed   seeded_runs_are_identical  Two runs with one seed give the same outputs and scores, \
to the last bit.
    """
    subject = MethodSubject(method, dict(options or {}), benchmark or tiny_for(method), seed)
    return run_checks(
        "method", subject.chosen.name, subject, CHECKS, only=only, raise_on_failure=raise_on_failure
    )
