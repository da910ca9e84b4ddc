"""Runs become means and deviations, worked out by hand; nothing is invented or mixed."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from onward.errors import OnwardError
from onward.report.summary import by_setting, shown_metrics, summarise, unfinished
from onward.results.schema import Score

NAN = float("nan")
FIRST, SECOND = [[0.8, 0.6], [0.4, 0.7]], [[0.9, 0.5], [0.6, 0.8]]


def test_means_and_deviations_over_two_seeds_by_hand(make: Callable) -> None:
    (summary,) = summarise([make(SECOND, seed=3), make(FIRST, seed=1)])
    assert summary.seeds == (1, 3)
    np.testing.assert_allclose(summary.matrix, [[0.85, 0.55], [0.5, 0.75]])
    metrics = summary.metrics
    assert metrics["next_domain"].values == pytest.approx((0.6, 0.5))
    assert metrics["next_domain"].mean == pytest.approx(0.55)
    assert metrics["next_domain"].deviation == pytest.approx(0.1 / math.sqrt(2))
    assert metrics["forward_transfer"].mean == pytest.approx(0.55)
    assert metrics["in_domain"].values == pytest.approx((0.75, 0.85))
    assert metrics["backward_transfer"].values == pytest.approx((0.4, 0.6))
    assert metrics["accuracy"].values == pytest.approx((1.9 / 3, 2.3 / 3))
    assert metrics["next_domain"].percent() == "55.0 ± 7.1"


def test_empty_cells_stay_empty_and_their_metrics_have_no_number(make: Callable) -> None:
    R = [[NAN, 0.6, 0.5], [NAN, NAN, 0.7], [NAN, NAN, NAN]]
    (summary,) = summarise([make(R, seed=seed, protocol="streaming") for seed in (0, 1)])
    np.testing.assert_array_equal(summary.matrix, R)
    assert summary.metrics["next_domain"].mean == pytest.approx(0.65)
    for name in ("in_domain", "accuracy", "backward_transfer"):
        assert not summary.metrics[name].known
        assert summary.metrics[name].percent() == "–"  # noqa: RUF001


def test_a_cell_that_one_seed_lacks_is_not_filled_from_the_other(make: Callable) -> None:
    (summary,) = summarise([make(FIRST), make([[0.9, NAN], [0.6, 0.8]], seed=1)])
    assert math.isnan(summary.matrix[0, 1])
    assert not summary.metrics["next_domain"].known
    assert summary.metrics["in_domain"].known


def test_one_row_has_the_mean_over_its_periods_and_nothing_of_clears(make: Callable) -> None:
    offline = [[NAN, NAN], [0.6, 0.8]]
    better = [[NAN, NAN], [0.7, 0.9]]
    first, second = summarise(
        [make(offline, protocol="offline"), make(better, protocol="offline", method="er")]
    )
    assert first.label == "er"
    assert second.metrics["final"].mean == pytest.approx(0.7)
    assert shown_metrics([first, second]) == ["final"]
    (usual,) = summarise([make(FIRST)])
    assert usual.metrics["final"].mean == pytest.approx(0.55)
    assert "final" not in shown_metrics([usual])


def test_nothing_but_nan_is_no_number_and_no_warning(make: Callable) -> None:
    spec = {"protocol": {"name": "iid", "tests": "all", "pooled": True}}
    nothing = {"test": "pooled", "tested_on": None, "samples": 0, "scores": {"accuracy": None}}
    record = make(FIRST)
    record = replace(
        record,
        spec=record.spec.model_copy(update=spec),
        scores=(
            *record.scores,
            *(Score(learned_upto=period, **nothing) for period in range(2)),
        ),
    )
    (summary,) = summarise([record])
    assert summary.metrics["pooled_mean"].percent() == "–"  # noqa: RUF001
    assert summary.metrics["next_domain"].known
    assert "pooled_mean" not in shown_metrics([summary])


def test_one_seed_has_no_deviation(make: Callable) -> None:
    (summary,) = summarise([make(FIRST)])
    assert math.isnan(summary.metrics["next_domain"].deviation)
    assert summary.metrics["next_domain"].percent() == "60.0"


def test_static_tests_show_the_last_model_and_costs_are_means(make: Callable) -> None:
    (summary,) = summarise(
        [
            make(FIRST, static=[0.9, 0.2], cost={"cpu_seconds": 1.0, "stored_samples": 10}),
            make(SECOND, seed=1, static=[0.9, 0.4], cost={"cpu_seconds": 2.0}),
        ]
    )
    assert summary.static["other"].values == (0.2, 0.4)
    assert summary.cost["cpu_seconds"] == 1.5
    assert summary.cost["stored_samples"] == 5


def test_two_versions_of_data_are_two_settings_with_two_names(make: Callable) -> None:
    summaries = summarise(
        [
            make(FIRST),
            make(SECOND, seed=1, data_digest="e" * 64),
            make(SECOND, method="er", data_digest="e" * 64),
            make(FIRST, protocol="streaming"),
        ]
    )
    assert all(len(summary.seeds) == 1 for summary in summaries)
    found = [[(item.data_name, item.label) for item in group] for group in by_setting(summaries)]
    assert found == [
        [("made-up #dddddddd", "finetune")],
        [("made-up #dddddddd", "finetune")],
        [("made-up #eeeeeeee", "er"), ("made-up #eeeeeeee", "finetune")],
    ]
    (alone,) = summarise([make(FIRST), make(SECOND, seed=1)])
    assert alone.data_name == "made-up"


def test_another_benchmark_may_have_another_digest(make: Callable) -> None:
    summaries = summarise([make(FIRST), make(FIRST, benchmark="tic", data_digest="e" * 64)])
    assert [summary.spec.benchmark for summary in summaries] == ["clear", "tic"]


def test_unfinished_runs_are_left_out_and_counted(make: Callable) -> None:
    records = [make(FIRST), make(SECOND, seed=1, complete=False)]
    (summary,) = summarise(records)
    assert summary.seeds == (0,)
    assert [record.spec.seed for record in unfinished(records)] == [1]
    assert summarise(records[1:]) == []


def test_a_run_that_is_there_twice_counts_once(make: Callable) -> None:
    (summary,) = summarise([make(FIRST), make(FIRST), make(SECOND, seed=1)])
    assert summary.seeds == (0, 1)
    with pytest.raises(OnwardError, match="seed 0, found two that differ"):
        summarise([make(FIRST), make(SECOND)])


def test_only_runs_that_differ_in_nothing_but_the_seed_are_averaged(make: Callable) -> None:
    summaries = summarise(
        [
            make(FIRST, method="er", method_options={"memory": 10}),
            make(FIRST, method="er", method_options={"memory": 20}),
            make(FIRST, method="a/mine.py:Mine", method_digest="x"),
            make(FIRST, method="b/mine.py:Mine", method_digest="y"),
        ]
    )
    labels = [summary.label for summary in summaries]
    assert {"er(memory=10)", "er(memory=20)"} < set(labels)
    assert sum(label.startswith("Mine #") for label in labels) == 2
    assert len(set(labels)) == 4
    assert len(by_setting(summaries)) == 1


def test_control_characters_do_not_reach_a_label(make: Callable) -> None:
    (summary,) = summarise([make(FIRST, method="x.py:\x1b[31mred")])
    assert summary.label == "\N{REPLACEMENT CHARACTER}[31mred"


def test_the_future_comes_first_and_the_best_mean_leads(make: Callable) -> None:
    streaming = [[NAN, 0.6], [NAN, NAN]]
    summaries = summarise(
        [
            make(FIRST, method="a"),
            make(streaming, method="a", protocol="streaming"),
            make([[NAN, 0.7], [NAN, NAN]], method="b", protocol="streaming"),
        ]
    )
    order = [(summary.protocol, summary.label) for summary in summaries]
    assert order == [("streaming", "b"), ("streaming", "a"), ("iid", "a")]
    assert [len(group) for group in by_setting(summaries)] == [2, 1]


def test_recipes_and_budgets_are_settings_of_their_own(make: Callable) -> None:
    summaries = summarise(
        [make(FIRST), make(FIRST, recipe_name="paper"), make(FIRST, limits={"passes": 1})]
    )
    assert len(by_setting(summaries)) == 3
