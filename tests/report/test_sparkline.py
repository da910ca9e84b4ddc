"""Sparklines: one block per period on one scale, blank where nothing was measured."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from onward.report.sparkline import sparkline, sparklines
from onward.report.summary import by_setting, summarise

NAN = float("nan")


def test_the_ends_of_the_scale_are_the_lowest_and_the_highest_block() -> None:
    assert sparkline([0.1, 0.9], 0.1, 0.9) == "▁▇"
    assert sparkline([0.5, 0.5], 0.5, 0.5) == "▄▄"


def test_many_periods_are_averaged_with_their_neighbours() -> None:
    line = sparkline(np.linspace(0, 1, 100), 0.0, 1.0)
    assert len(line) == 20
    assert list(line) == sorted(line)


def test_methods_share_a_scale_and_the_last_period_has_no_next(make: Callable) -> None:
    high = make([[0.1, 0.9, 0.1], [0.1, 0.1, 0.7], [0.1, 0.1, 0.1]])
    low = make([[0.9, 0.2, 0.9], [0.9, 0.9, 0.35], [0.9, 0.9, 0.9]], method="nap")
    found = sparklines(summarise([high, low]))
    assert found is not None
    assert (found.low, found.high) == (0.2, 0.9)
    assert found.lines == ("▇▆ ", "▁▂ ")
    assert found.words == "right answers on the period after the last one learned"


def test_where_all_is_learned_at_once_time_is_that_of_the_tests(make: Callable) -> None:
    found = sparklines(summarise([make([[NAN, NAN], [0.2, 0.8]], protocol="offline")]))
    assert found is not None
    assert found.lines == ("▁▇",)
    assert found.words == "on each period, in the end"


def test_domains_have_no_order_and_are_shown_in_the_end(make: Callable) -> None:
    record = make([[0.5, 0.1], [0.2, 0.8]], task="boxes")
    renamed = [
        score.model_copy(update={"scores": {"map50": score.scores["accuracy"]}})
        for score in record.scores
    ]
    found = sparklines(summarise([replace(record, scores=tuple(renamed))]))
    assert found is not None
    assert (found.lines, found.words) == (("▁▇",), "on each period, in the end")


@pytest.mark.parametrize("matrix", [[[0.5]], [[NAN, 0.5], [NAN, NAN]], [[NAN]]])
def test_one_point_is_no_line(make: Callable, matrix: list[list[float]]) -> None:
    assert sparklines(summarise([make(matrix)])) is None


def test_every_setting_of_the_demo_has_lines(demo: Callable) -> None:
    for setting in by_setting(summarise(demo())):
        found = sparklines(setting)
        assert found is not None
        assert {len(line) for line in found.lines} == {7}
        assert {line[-1] for line in found.lines} == {" "}
