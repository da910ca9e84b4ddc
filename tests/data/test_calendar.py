from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.data.calendar import cut_time, place_in
from onward.errors import OnwardError


def days(*texts: str) -> Any:
    return np.array(texts, "datetime64[D]")


@pytest.mark.parametrize(
    ("periods", "names"),
    [
        ("yearly", ["2019", "2020"]),
        ("quarterly", ["2019-Q4", "2020-Q1"]),
        ("monthly", ["2019-12", "2020-01", "2020-03"]),
        ("weekly", ["2020-W01", "2020-W10"]),
        ("daily", ["2019-12-30", "2020-01-01", "2020-03-04"]),
        (3, ["2019-12-30..2019-12-30", "2020-01-01..2020-01-01", "2020-03-04..2020-03-04"]),
        ("2020-01-01", ["2019-12-30..2019-12-31", "2020-01-01..2020-03-04"]),
        (
            "2019-01-01, 2020-01-01,2020-02-01,2020-03-01",
            ["2019-01-01..2019-12-31", "2020-01-01..2020-01-31", "2020-03-01..2020-03-04"],
        ),
    ],
)
def test_periods_have_dates_and_names(periods: str | int, names: list[str]) -> None:
    found = days("2019-12-30", "2020-01-01", "2020-03-04")
    spans, _ = cut_time(found, periods)
    assert [span.name for span in spans] == names
    assert set(place_in(found, spans).tolist()) == set(range(len(spans)))


def test_a_calendar_period_goes_from_its_first_to_its_last_day() -> None:
    spans, _ = cut_time(days("2020-02-10", "2021-11-05"), "quarterly")
    assert (spans[0].start, spans[0].end) == (date(2020, 1, 1), date(2020, 3, 31))
    spans, _ = cut_time(days("2020-02-10", "2021-11-05"), "monthly")
    assert spans[0].end == date(2020, 2, 29)


def test_by_default_the_coarsest_calendar_with_four_periods() -> None:
    years = days("2016-05-01", "2017-05-01", "2018-05-01", "2019-05-01")
    assert cut_time(years, None)[1].startswith("yearly")
    months = days("2020-01-05", "2020-02-05", "2020-03-05", "2020-04-05")
    assert cut_time(months, None)[1].startswith("monthly")


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=200).filter(lambda x: len(set(x)) > 1),
    st.integers(2, 10),
)
def test_equal_counts_cut_no_day_and_leave_no_period_empty(numbers: list[int], k: int) -> None:
    found = np.array(numbers).astype("datetime64[D]")
    k = min(k, len(set(numbers)))
    spans, _ = cut_time(found, k)
    counts = np.bincount(place_in(found, spans), minlength=k)
    assert len(spans) == k
    assert counts.sum() == len(numbers)
    assert counts.min() >= 1


def test_equal_counts_are_about_equal() -> None:
    rng = np.random.default_rng(0)
    found = rng.integers(0, 3000, 20_000).astype("datetime64[D]")
    counts = np.bincount(place_in(found, cut_time(found, 10)[0]))
    assert counts.min() > 1900
    assert counts.max() < 2100


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ("monthyl", "Did you mean 'monthly'"),
        ("2020-01-01,soon", "expected dates such as"),
        ("2021-01-01,2020-01-01", "in order of time"),
        (1, "from 2 to 3 periods"),
        (9, "samples of 3 different days"),
    ],
)
def test_other_periods_are_refused(periods: str | int, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        cut_time(days("2019-12-30", "2020-01-01", "2020-03-04"), periods)


def test_a_day_in_no_period_has_no_place() -> None:
    spans, _ = cut_time(days("2020-01-05", "2020-03-05"), "monthly")
    assert place_in(days("2020-02-01", "2019-01-01", "2020-03-01"), spans).tolist() == [-1, -1, 1]
