"""When a sample was made, read from whatever a column of times holds.

Times with a zone become UTC, and those without one are taken as UTC. One column may mix
spellings, as long as each value can be read in one way only: whether 03/04/2020 is in March or in
April is decided by the column as a whole, and refused if the column does not say.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.types import Array

Times = NDArray[np.datetime64]

_CLOCK = (
    r"(?:[T _]+(?P<hour>\d{1,2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?"
    r"\s?(?P<zone>Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"^(?:[A-Za-z]{3,9},?\s+)?"
# By name, for messages; the first that fits a value reads it.
_SPELLINGS = {
    "year first (2020-03-04 12:30)": r"^(?P<year>\d{4})[-/.:](?P<month>\d{1,2})"
    r"(?:[-/.:](?P<day>\d{1,2})" + _CLOCK[:-1] + ")?$",
    "compact (20200304T123000)": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})" + _CLOCK,
    "slashes (04/03/2020)": r"^(?P<first>\d{1,2})[-/.](?P<other>\d{1,2})[-/.](?P<year>\d{4})"
    + _CLOCK.replace("[T _]+", "[T ,]+"),
    "names (4 March 2020)": _WEEKDAY
    + r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?,?[ -](?P<year>\d{4})"
    + _CLOCK,
    "names (March 4, 2020)": _WEEKDAY
    + r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})"
    + _CLOCK,
    "year (2020)": r"^(?P<year>\d{4})$",
    "seconds since 1970": r"^-?\d{9,10}(?:\.\d+)?$",
    "milliseconds since 1970": r"^\d{12,13}$",
    "microseconds since 1970": r"^\d{15,16}$",
    "nanoseconds since 1970": r"^\d{18,19}$",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_SLASHES = "slashes (04/03/2020)"
_DIVISORS = {"milli": 1e3, "micro": 1e6, "nano": 1e9}
_SHOWN = 3


@dataclass(frozen=True)
class TimeColumn:
    """A column of times, understood.

    ``values`` are in UTC, to the microsecond, not-a-time where there was none; ``formats`` says how
    many of them each spelling read, ``zone`` what was done about time zones.
    """

    values: Times
    formats: dict[str, int]
    zone: str


def read_times(
    column: pa.ChunkedArray, name: str, *, day_first: bool | None = None, strict: bool = True
) -> TimeColumn:
    """Read a column of times.

    It has dates, timestamps, numbers or texts. `day_first` says how 03/04/2020 is meant, where the
    column does not say. A text that cannot be read is refused, or not-a-time if this is not
    `strict`.

    Examples
    --------
    >>> found = read_times(pa.chunked_array([["2020-03-04T01:00+02:00", "1583290800"]]), "taken")
    >>> found.values.astype("datetime64[m]").tolist()[0].isoformat()
    '2020-03-03T23:00:00'
    """
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        values = column.cast(pa.timestamp("us", tz="UTC" if zoned else None), safe=False)
        plain = np.asarray(values.to_numpy(), "datetime64[us]")
        known = int((~np.isnat(plain)).sum())
        word = "dates" if pa.types.is_date(kind) else "timestamps"
        zone = f"{kind.tz}, turned into UTC" if zoned else "no zone, taken as UTC"
        return TimeColumn(plain, {word: known}, zone)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _read_texts(_plain_numbers(column), name, day_first=day_first, strict=strict)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return _read_texts(column.cast(pa.string()), name, day_first=day_first, strict=strict)
    raise OnwardError(
        f"expected times in column {name!r} (dates, timestamps, numbers or texts), found values "
        f"of type {kind}. Name another one with time_column"
    )


def _plain_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write numbers as people do, so that one rule reads numbers and texts alike."""
    if pa.types.is_floating(column.type):
        whole = pc.floor(column)
        if pc.all(pc.equal(whole, column)).as_py() is not False:
            return pc.cast(whole, pa.int64(), safe=False).cast(pa.string())
        return pc.cast(column, pa.decimal128(38, 6), safe=False).cast(pa.string())
    return column.cast(pa.string())


def _read_texts(
    column: pa.ChunkedArray, name: str, *, day_first: bool | None, strict: bool
) -> TimeColumn:
    encoded = pc.utf8_trim_whitespace(column).dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    texts: pa.Array = encoded.dictionary
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    values = np.full(len(texts) + 1, np.datetime64("NaT"), "datetime64[us]")
    wanted = np.asarray(pc.not_equal(texts, "").to_numpy(zero_copy_only=False), np.bool_)
    zoned = np.zeros(len(texts), np.bool_)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    formats: dict[str, int] = {}
    for spelling, pattern in _SPELLINGS.items():
        fits = wanted & np.asarray(
            pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), np.bool_
        )
        if not fits.any():
            continue
        chosen = texts.filter(pa.array(fits))
        if "since" in spelling:
            said, found = spelling, _since_1970(chosen, spelling)
            with_zone = np.ones(len(found), np.bool_)
        else:
            said, parts = spelling, pc.extract_regex(chosen, pattern)
            if spelling == _SLASHES:
                day_first = _day_first(chosen, parts, name, asked=day_first)
                said = f"{'day' if day_first else 'month'} first, slashes or dots"
            found, with_zone = _assemble(parts, day_first=day_first)
        read = ~np.isnat(found)
        places = np.flatnonzero(fits)[read]
        values[places], zoned[places] = found[read], with_zone[read]
        wanted[places] = False
        if len(places):
            formats[said] = int(counts[places].sum())
    if strict and wanted.any():
        raise _unreadable(name, texts, codes, wanted)
    share = counts[zoned].sum() / max(counts.sum(), 1)
    zone = {0: "no zone, taken as UTC", 1: "with zone, turned into UTC"}.get(
        share, "some with zone, turned into UTC; the others taken as UTC"
    )
    return TimeColumn(values[codes], formats, zone)


def _since_1970(texts: pa.Array, spelling: str) -> Times:
    divisor = next((d for word, d in _DIVISORS.items() if spelling.startswith(word)), 1.0)
    if divisor == 1:
        seconds = np.asarray(texts.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return np.round(seconds * 1e6).astype(np.int64).astype("datetime64[us]")
    whole = np.asarray(texts.cast(pa.int64()).to_numpy(zero_copy_only=False))
    micro = whole * int(1e6 / divisor) if divisor <= 1e6 else whole // 1000
    return np.asarray(micro.astype("datetime64[us]"))


def _day_first(texts: pa.Array, parts: pa.Array, name: str, *, asked: bool | None) -> bool:
    """Say which of two numbers is the day, for the spelling that does not say."""
    late = {part: np.flatnonzero(_number(parts, part) > 12) for part in ("first", "other")}
    if all(len(rows) for rows in late.values()):
        both = " and ".join(repr(texts[int(rows[0])].as_py()) for rows in late.values())
        raise OnwardError(
            f"expected one order of day and month in column {name!r}, found {both}. Write all "
            "times as 2020-03-04"
        )
    if len(late["first"]) or len(late["other"]):
        return bool(len(late["first"]))
    if asked is None:
        raise OnwardError(
            f"expected to see whether days or months come first in column {name!r}, found no "
            f"number above 12 in either place (first: {texts[0].as_py()!r}). Say it with "
            "day_first=True or day_first=False (--day-first, --month-first)"
        )
    return asked


def _assemble(parts: pa.Array, *, day_first: bool | None) -> tuple[Times, NDArray[np.bool_]]:
    """Make times out of their parts; not-a-time where no calendar has such a day."""
    names = {field.name for field in parts.type}
    if "first" in names:
        day, month = ("first", "other") if day_first else ("other", "first")
    else:
        day, month = "day", "month"
    years = _number(parts, "year")
    if "name" in names:
        short = pc.utf8_lower(pc.utf8_slice_codeunits(pc.struct_field(parts, "name"), 0, 3))
        found = pc.index_in(short, pa.array(_MONTHS)).fill_null(-1)
        months = np.asarray(found.to_numpy(zero_copy_only=False), np.int64) + 1
    else:
        months = _number(parts, month, absent=1)
    days = _number(parts, day, absent=1)
    hours, minutes, seconds = (_number(parts, part) for part in ("hour", "minute", "second"))
    valid = (months >= 1) & (months <= 12) & (days >= 1) & (hours < 24) & (minutes < 60)
    # 60 is a leap second.
    valid &= seconds <= 60
    month_start = ((years - 1970) * 12 + np.clip(months, 1, 12) - 1).astype("datetime64[M]")
    date = month_start.astype("datetime64[D]") + (days - 1)
    valid &= date.astype("datetime64[M]") == month_start
    shift, zoned = _zones(parts)
    micro = ((hours * 60 + minutes - shift) * 60 + seconds) * 1_000_000 + _microseconds(parts)
    values = date.astype("datetime64[us]") + micro.astype("timedelta64[us]")
    values[~valid] = np.datetime64("NaT")
    return values, zoned


def _number(parts: pa.Array, name: str, absent: int = 0) -> NDArray[np.int64]:
    texts = _field(parts, name)
    filled = pc.if_else(pc.equal(texts, ""), str(absent), texts)
    return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False), np.int64)


def _field(parts: pa.Array, name: str) -> pa.Array:
    if not any(field.name == name for field in parts.type):
        return pa.array([""] * len(parts))
    return pc.struct_field(parts, name).fill_null("")


def _microseconds(parts: pa.Array) -> Array:
    digits = pc.utf8_slice_codeunits(pc.utf8_rpad(_field(parts, "part"), 6, "0"), 0, 6)
    return np.asarray(digits.cast(pa.int64()).to_numpy(zero_copy_only=False), np.int64)


def _zones(parts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how many minutes each clock is ahead of UTC, and whether it says so."""
    zone = _field(parts, "zone")
    numeric = pc.match_substring_regex(zone, r"^[+-]")
    digits = pc.replace_substring(pc.utf8_slice_codeunits(zone, 1), ":", "")
    padded = pc.if_else(numeric, pc.utf8_rpad(digits, 4, "0"), "0000").cast(pa.int64())
    clock = np.asarray(padded.to_numpy(zero_copy_only=False), np.int64)
    sign = np.where(np.asarray(pc.starts_with(zone, "-")), -1, 1)
    return sign * (clock // 100 * 60 + clock % 100), np.asarray(pc.not_equal(zone, ""))


def _unreadable(
    name: str, texts: pa.Array, codes: NDArray[np.int64], wanted: NDArray[np.bool_]
) -> OnwardError:
    rows = np.flatnonzero((codes >= 0) & wanted[codes])
    shown = ", ".join(f"row {row}: {texts[int(codes[row])].as_py()!r}" for row in rows[:_SHOWN])
    return OnwardError(
        f"expected times in column {name!r}, found {len(rows):,} of {len(codes):,} that cannot be "
        f"read ({shown}). Tried: {', '.join(_SPELLINGS)}. Write them as 2020-03-04T12:30:00Z, or "
        "name another column with time_column"
    )
