"""Every planted leak, how to run it, and the check that must catch it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import leaky_benchmarks as streams
import leaky_learners as learners

from onward.checks import Report, check_method, check_stream, tiny_benchmark
from onward.protocols import STREAMING


@dataclass(frozen=True)
class Leak:
    """A planted leak.

    ``check`` makes all checks, or only some, on data in a folder.
    """

    name: str
    what: str
    caught_by: str
    check: Callable[[Path, tuple[str, ...] | None], Report]


def _method(
    kind: Any,
    caught_by: str,
    *,
    protocol: str = "iid",
    with_path: bool = False,
    with_benchmark: bool = False,
) -> Leak:
    def check(folder: Path, only: tuple[str, ...] | None) -> Report:
        benchmark = tiny_benchmark(protocol, folder)
        method = kind(benchmark) if with_benchmark else kind
        options = {"path": str(folder)} if with_path else {}
        return check_method(method, benchmark, options=options, only=only, raise_on_failure=False)

    return Leak(kind.__name__, kind.__doc__.strip(), caught_by, check)


def _stream(change: Any, caught_by: str, what: str = "cut", protocol: str = "iid") -> Leak:
    def check(folder: Path, only: tuple[str, ...] | None) -> Report:
        benchmark = replace(tiny_benchmark(protocol), **{what: change})
        return check_stream(benchmark, only=only, raise_on_failure=False)

    return Leak(change.__name__, change.__doc__, caught_by, check)


LEAKS = (
    _method(learners.KeepsTheStream, "holds_no_stream", with_benchmark=True),
    _method(learners.KeepsTheStreamInItsClass, "holds_no_stream"),
    _method(learners.ReadsPastItsView, "sees_only_the_past"),
    _method(learners.ReadsPastItsView, "reads_only_what_it_is_shown"),
    _method(learners.CountsFutureLabels, "sees_only_the_past"),
    _method(learners.KeepsATestView, "asks_only_for_the_present"),
    _method(learners.LearnsFromTestInputs, "sees_only_the_past"),
    _method(learners.CachesABasis, "sees_only_the_past"),
    _method(learners.ReadsTheFile, "opens_no_file", with_path=True),
    _method(learners.ReadsTheFileWithArrow, "opens_no_file", with_path=True),
    _method(learners.MapsTheFile, "holds_no_stream", with_path=True),
    _method(learners.ReadsPrivateLabels, "outputs_decode"),
    _method(learners.ReadsLabelsOnTheStack, "uses_no_hidden_label"),
    _method(learners.ReadsCompleteLabels, "uses_no_hidden_label", protocol="complete"),
    _method(learners.ReadsLabelsOfTheCollector, "uses_no_hidden_label"),
    _method(learners.ReplacesTheView, "uses_no_hidden_label"),
    _method(learners.LabelsInPredict, "asks_only_for_the_present"),
    _method(learners.ReplaysWithoutHolding, "reads_only_what_it_is_shown"),
    _method(learners.KeepsCopies, "keeps_only_what_it_holds"),
    _method(learners.RoundsUp, "memory_stays_in_bounds"),
    _method(learners.Unseeded, "seeded_runs_are_identical"),
    _method(learners.HashOrdered, "fresh_processes_agree"),
    _method(learners.SharesState, "learners_share_nothing"),
    _method(learners.ChangesLabels, "learn_leaves_its_view_alone"),
    _method(learners.AdaptsInPredict, "predict_changes_nothing"),
    _method(learners.ForgetsItsCounts, "resumed_runs_equal_uninterrupted_ones"),
    _method(learners.LosesItsPlace, "resumed_runs_equal_uninterrupted_ones"),
    _method(learners.WrongShape, "outputs_decode"),
    _method(learners.Greedy, "keeps_to_the_budget", protocol="online"),
    _stream(streams.scaled_on_everything, "preparation_sees_only_the_past", "prepare"),
    _stream(streams.scaled_on_what_came_first, "preparation_sees_only_the_past", "prepare"),
    _stream(streams.cached_by_name, "preparation_sees_only_the_past", "prepare"),
    Leak(
        "cached_on_disk",
        str(streams.cached_on_disk.__doc__),
        "inputs_come_from_the_table",
        lambda folder, only: check_stream(
            replace(tiny_benchmark(), prepare=partial(streams.cached_on_disk, folder=folder)),
            only=only,
            raise_on_failure=False,
        ),
    ),
    _stream(streams.classes_of_the_future, "preparation_sees_only_the_past"),
    _stream(streams.infinite, "inputs_are_finite", "prepare"),
    _stream(streams.growing, "periods_share_no_sample"),
    _stream(streams.without_the_last, "every_sample_has_its_period"),
    _stream(streams.split_by_sample, "groups_stay_on_one_side"),
    _stream(streams.with_a_cursor, "the_stream_has_no_cursor"),
    _stream(streams.backwards, "time_moves_forward"),
    _stream(streams.misdated, "time_moves_forward"),
    _stream(streams.labels_beyond, "labels_are_classes"),
    _stream(streams.classes_sorted, "classes_grow_at_the_end"),
    _stream(streams.unseeded, "one_seed_is_one_stream"),
    _stream(streams.deaf_to_the_seed, "another_seed_is_another_split"),
    _stream(streams.overlapping_folds, "folds_hold_out_each_sample_once", protocol="streaming"),
    Leak(
        "TestsEverything",
        str(streams.TestsEverything.__doc__),
        "the_future_protocol_never_tests_the_past",
        lambda folder, only: check_stream(
            replace(tiny_benchmark(), protocol=streams.TestsEverything(**vars(STREAMING))),
            only=only,
            raise_on_failure=False,
        ),
    ),
    Leak(
        "card_of_other_data",
        "Counts the rows of an earlier version of the data.",
        "the_card_matches_the_data",
        lambda folder, only: check_stream(
            replace(tiny_benchmark(), card=replace(tiny_benchmark().card, numbers={"rows": 300})),
            only=only,
            raise_on_failure=False,
        ),
    ),
)
