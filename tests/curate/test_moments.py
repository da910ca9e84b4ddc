from datetime import UTC, date, datetime
from urllib.parse import unquote_plus

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.curate.moments import micros, texts_of_times
from onward.curate.url_texts import decoded


def moment(text: str, **options: bool) -> str | None:
    found = micros(pl.Series([text]), **options)[0].item()
    return None if found is None else str(datetime.fromtimestamp(found / 1e6, UTC))[:19]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1252326896", "2009-09-07 12:34:56"),
        ("1252326896123", "2009-09-07 12:34:56"),
        ("1252326896123456", "2009-09-07 12:34:56"),
        ("1252326896123456789", "2009-09-07 12:34:56"),
        ("1252326896.5", "2009-09-07 12:34:56"),
        ("-86400", "1969-12-31 00:00:00"),
        ("0", "1970-01-01 00:00:00"),
        ("2009", "2009-01-01 00:00:00"),
        ("20090907", "2009-09-07 00:00:00"),
        ("2009-09-07", "2009-09-07 00:00:00"),
        ("2009-09-07 12:34:56", "2009-09-07 12:34:56"),
        ("2009-09-07 12:34:56.0", "2009-09-07 12:34:56"),
        ("2009-09-07 12:34:56.789", "2009-09-07 12:34:56"),
        ("2009-09-07T14:34:56+02:00", "2009-09-07 12:34:56"),
        ("2009:09:07 12:34:56", "2009-09-07 12:34:56"),
        ("2009-02-31 00:00:00", None),
        ("0000-00-00 00:00:00", None),
        ("99999999999999999999", None),
        ("tomorrow", None),
    ],
)
def test_spellings(text: str, expected: str | None) -> None:
    assert moment(text) == expected


def test_which_of_two_numbers_is_the_day() -> None:
    assert moment("03/04/2020", day_first=True) == "2020-04-03 00:00:00"
    assert moment("03/04/2020", day_first=False) == "2020-03-04 00:00:00"


@pytest.mark.parametrize("text", ["", None, "null", "NaN", "\\N"])
def test_nothing_was_said(text: str | None) -> None:
    values, unsaid = micros(pl.Series([text], dtype=pl.String))
    assert values.to_list() == [None]
    assert unsaid.to_list() == [True]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime(2009, 9, 7, 12, 34, 56, 500000)], pa.timestamp("ms")),
        pa.array([1252326896500000]).cast(pa.timestamp("us", "Asia/Tokyo")),
        pa.array([1252326896.5]),
        pa.array([1252326896500.0]),
        pa.array([1252326896500], pa.int64()),
    ],
)  # fmt: skip
def test_types(column: pa.Array) -> None:
    texts = pl.Series(values=texts_of_times(pa.chunked_array([column])))
    assert micros(texts)[0].to_list() == [1252326896500000]


def test_days_have_a_type_too() -> None:
    texts = texts_of_times(pa.chunked_array([pa.array([date(2009, 9, 7), None])]))
    values, unsaid = micros(pl.Series(values=texts))
    assert values.to_list() == [1252281600000000, None]
    assert unsaid.to_list() == [False, True]


_PARTS = st.sampled_from(
    ["+", "%", "%4", "%41", "%2", "%C3%A9", "%e2%82%ac", "%FF", "é", "a", "%%", "%zz"]
)
_TEXTS = st.lists(st.none() | st.lists(_PARTS, max_size=6).map("".join), max_size=6)


@given(_TEXTS, st.integers(0, 3))
def test_texts_of_urls_are_decoded_as_python_does(texts: list[str | None], skipped: int) -> None:
    column = pa.chunked_array([pa.array(texts, pa.string())]).slice(skipped)
    expected = [None if text is None else unquote_plus(text) for text in texts[skipped:]]
    assert decoded(column).to_pylist() == expected
