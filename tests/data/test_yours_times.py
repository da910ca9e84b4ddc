from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from onward.data.yours_times import TimeColumn, read_times
from onward.errors import OnwardError


def read(*values: Any, **options: Any) -> TimeColumn:
    return read_times(pa.chunked_array([pa.array(values)]), "taken", **options)


def seconds(found: TimeColumn) -> list[str]:
    return found.values.astype("datetime64[s]").astype(str).tolist()


NOON = "2020-03-04T12:30:00"


@pytest.mark.parametrize(
    "value",
    [
        "2020-03-04T12:30:00",
        " 2020-03-04 12:30 ",
        "2020-03-04T12:30:00.000Z",
        "2020-03-04T14:30:00+02:00",
        "2020-03-04 14:30+02",
        "2020-03-04T07:00:00-0530",
        "2020/03/04 12:30:00",
        "2020:03:04 12:30:00",
        "20200304T123000",
        "20200304_123000",
        "Wed, 04 Mar 2020 12:30:00 GMT",
        "4 March 2020 12:30",
        "March 4, 2020 12:30",
        "1583325000",
        "1583325000000",
        "1583325000000000",
        "1583325000000000000",
        1583325000,
        1583325000.0,
        1583325000000,
        datetime(2020, 3, 4, 12, 30),
    ],
)
def test_one_moment_in_many_spellings(value: Any) -> None:
    assert seconds(read(value)) == [NOON]


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2020-03", "2020-03-01"),
        ("2020", "2020-01-01"),
        (2020, "2020-01-01"),
        (20200304, "2020-03-04"),
        (date(2020, 3, 4), "2020-03-04"),
        ("31.12.2020", "2020-12-31"),
        ("12/31/2020", "2020-12-31"),
    ],
)
def test_a_day_begins_at_midnight_utc(value: Any, day: str) -> None:
    assert seconds(read(value)) == [f"{day}T00:00:00"]


def test_parts_of_a_second_are_kept() -> None:
    found = read("2020-03-04T00:00:00.123456", "2020-03-04T00:00:00.5", "1583325000.25")
    micro = found.values.astype(np.int64) % 1_000_000
    assert micro.tolist() == [123456, 500000, 250000]
    assert read(1583325000.25).values.astype(np.int64).tolist() == [1583325000250000]


def test_zones_become_utc_and_the_others_are_taken_as_utc() -> None:
    assert read("2020-03-04T12:30:00").zone == "no zone, taken as UTC"
    assert "turned into UTC" in read("2020-03-04T12:30:00Z").zone
    mixed = read("2020-03-04T12:30:00", "2020-03-04T14:30:00+02:00")
    assert seconds(mixed) == [NOON, NOON]
    assert mixed.zone.startswith("some with zone")
    aware = pa.chunked_array([pa.array([1583325000], pa.timestamp("s", tz="Europe/Paris"))])
    found = read_times(aware, "taken")
    assert (seconds(found), found.zone) == ([NOON], "Europe/Paris, turned into UTC")


def test_spellings_may_mix_and_are_counted() -> None:
    found = read("2020-03-04T12:30:00", "1583325000", "1583325000", None, "")
    assert found.formats == {"year first (2020-03-04 12:30)": 1, "seconds since 1970": 2}
    assert np.isnat(found.values).tolist() == [False, False, False, True, True]


def test_the_column_decides_whether_days_come_first() -> None:
    assert seconds(read("03/04/2020", "13/04/2020"))[0] == "2020-04-03T00:00:00"
    assert seconds(read("03/04/2020", "04/13/2020"))[0] == "2020-03-04T00:00:00"
    assert seconds(read("03/04/2020", day_first=True)) == ["2020-04-03T00:00:00"]
    assert seconds(read("03/04/2020", day_first=False)) == ["2020-03-04T00:00:00"]


def test_an_undecided_or_a_mixed_order_is_refused() -> None:
    with pytest.raises(OnwardError, match=r"whether days or months come first.*'03/04/2020'"):
        read("03/04/2020", "05/06/2020")
    with pytest.raises(OnwardError, match=r"one order.*'13/04/2020' and '04/13/2020'"):
        read("13/04/2020", "04/13/2020")


def test_what_cannot_be_read_is_counted_and_shown() -> None:
    values = ["2020-01-01", "soon", "2020-02-30", "2020-13-01", "24:00", "2020-01-01T25:00"]
    with pytest.raises(OnwardError) as error:
        read(*values)
    text = str(error.value)
    assert "found 5 of 6 that cannot be read (row 1: 'soon', row 2: '2020-02-30'" in text
    assert "Tried: year first" in text


def test_other_types_are_refused() -> None:
    with pytest.raises(OnwardError, match="found values of type bool"):
        read(True)
