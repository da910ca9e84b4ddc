"""Sparklines: one block per period on one scale, blank where nothing was measured."""

from collections.abc import Callable

import numpy as np
import pytest

from onward.report.sparkline import over_time, sparkline
from onward.report.summary import by_setting, summarise

NAN = float("nan")


def test_the_ends_of_the_scale_are_the_lowest_and_the_highest_block() -> None:
    assert sparkline([0.1, 0.9], 0.1, 0.9) == "▁█"
    assert sparkline([0.5, 0.5], 0.5, 0.5) == "▅▅"


def test_many_periods_are_averaged_with_their_neighbours() -> None:
    line = sparkline(np.linspace(0, 1, 100), 0.0, 1.0)
    assert len(line) == 20
    assert list(line) == sorted(line)


def test_methods_share_a_scale_and_the_last_period_has_no_next(make: Callable) -> None:
    high = make([[0.1, 0.9, 0.1], [0.1, 0.1, 0.7], [0.1, 0.1, 0.1]])
    low = make([[0.9, 0.2, 0.9], [0.9, 0.9, 0.3], [0.9, 0.9, 0.9]], method="nap")
    found = over_time(summarise([high, low]), "next_domain")
    assert found is not None
    assert (found.low, found.high) == (0.2, 0.9)
    assert found.lines == ("█▆ ", "▁▂ ")
    assert found.words == "next-domain after each period"


def test_of_detection_the_last_model_is_shown_on_every_period(make: Callable) -> None:
    record = make([[0.5, NAN], [0.2, 0.8]], protocol="offline")
    found = over_time(summarise([record]), "final")
    assert found is not None
    assert found.lines == ("▁█",)


@pytest.mark.parametrize("matrix", [[[0.5]], [[NAN, 0.5], [NAN, NAN]]])
def test_one_point_is_no_line(make: Callable, matrix: list[list[float]]) -> None:
    assert over_time(summarise([make(matrix)]), "next_domain") is None


def test_any_other_metric_shows_all_that_a_model_is_tested_on(make: Callable) -> None:
    record = make([[0.2, 0.4], [0.6, 0.8]])
    found = over_time(summarise([record]), "literature.gem_backward_transfer")
    assert found is not None
    assert np.allclose([found.low, found.high], [0.3, 0.7])


def test_every_setting_of_the_demo_has_lines(demo: Callable) -> None:
    for setting in by_setting(summarise(demo())):
        found = over_time(setting, "next_domain")
        assert found is not None
        assert {len(line) for line in found.lines} == {7}
        assert {line[-1] for line in found.lines} == {" "}
