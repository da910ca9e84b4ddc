"""Checks of a stream, and of the benchmark that cuts it: whether the future stays apart."""

from collections.abc import Callable, Collection

from onward.checks import cutting, periods, preparation
from onward.checks.report import Report, run_checks
from onward.checks.stream_subject import StreamSubject
from onward.types import Benchmark, Stream

CHECKS: tuple[Callable[[StreamSubject], str | None], ...] = (
    periods.periods_share_no_sample,
    periods.every_sample_has_its_period,
    periods.groups_stay_on_one_side,
    periods.the_stream_has_no_cursor,
    periods.time_moves_forward,
    periods.labels_are_classes,
    periods.classes_grow_at_the_end,
    periods.inputs_are_finite,
    cutting.one_seed_is_one_stream,
    cutting.another_seed_is_another_split,
    cutting.folds_hold_out_each_sample_once,
    cutting.the_future_protocol_never_tests_the_past,
    cutting.the_card_matches_the_data,
    preparation.preparation_sees_only_the_past,
    preparation.inputs_come_from_the_table,
)


def check_stream(
    benchmark: Benchmark | Stream,
    *,
    seed: int = 0,
    only: Collection[str] | None = None,
    raise_on_failure: bool = True,
) -> Report:
    """Check that a stream keeps periods, groups and time apart, and prepares without looking ahead.

    Parameters
    ----------
    benchmark
        What `onward.load` returned. Of a bare stream, only what shows without its benchmark is
        checked.
    seed
        The stream to look at most closely.
    only
        Names of the checks to make; by default all of them.
    raise_on_failure
        Whether to raise `CheckFailed`; otherwise the report says what failed.

    Examples
    --------
    >>> from onward.checks import tiny_benchmark
    >>> check_stream(tiny_benchmark("streaming")).ok
    True
    """
    subject = StreamSubject(benchmark, seed)
    if isinstance(benchmark, Benchmark):
        name = f"{benchmark.name} {benchmark.protocol.name}"
    else:
        name = f"from {benchmark[0].name} to {benchmark[-1].name}"
    return run_checks("stream", name, subject, CHECKS, only=only, raise_on_failure=raise_on_failure)
