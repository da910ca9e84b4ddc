"""CLAD's metrics, on worked examples and against the released code's order of averages."""

import math

import numpy as np
import pytest

from onward.metrics.clad import amca, area_below_curve

NAN = float("nan")


def test_amca_of_a_worked_table() -> None:
    table = [[0.2, 0.4, 0.9], [0.6, 0.0, 0.3]]
    assert amca(table) == pytest.approx((0.5 + 0.3) / 2)


def test_a_class_without_test_samples_is_left_out() -> None:
    rng = np.random.default_rng(0)
    table = rng.random((6, 6))
    table[:, 5] = NAN
    by_time_first = table[:, :5].mean(0).mean()
    assert amca(table) == pytest.approx(by_time_first)


def test_a_class_may_be_absent_from_one_test_only() -> None:
    assert amca([[0.5, NAN], [0.5, 1.0]]) == pytest.approx((0.5 + 0.75) / 2)


def test_a_time_without_any_test_has_no_number() -> None:
    assert math.isnan(amca([[NAN, NAN], [0.5, 1.0]]))


def test_the_callers_array_is_left_alone() -> None:
    table = np.array([[0.5, NAN], [0.5, 1.0]])
    before = table.copy()
    amca(table)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("wrong", [[], [0.1, 0.2], [[]], [[float("inf")]], [["a"]]])
def test_what_is_no_table_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        amca(wrong)  # type: ignore[arg-type]


def test_the_area_does_not_depend_on_where_a_straight_line_is_tested() -> None:
    coarse = area_below_curve([0.1, 0.9], [0, 1000])
    fine = area_below_curve(np.linspace(0.1, 0.9, 9), np.linspace(0, 1000, 9))
    assert coarse == pytest.approx(0.5)
    assert fine == pytest.approx(coarse)


def test_a_drop_counts_as_long_as_it_lasts() -> None:
    short = area_below_curve([1, 0, 1, 1], [0, 10, 20, 100])
    long = area_below_curve([1, 0, 1, 1], [0, 40, 80, 100])
    assert short == pytest.approx(0.9)
    assert long == pytest.approx(0.6)


@pytest.mark.parametrize("seen", [[0, 10], [0, 10, 10], [10, 0, 20]])
def test_numbers_of_samples_increase_one_per_accuracy(seen: list[int]) -> None:
    with pytest.raises(ValueError, match="increasing"):
        area_below_curve([0.1, 0.2, 0.3], seen)
