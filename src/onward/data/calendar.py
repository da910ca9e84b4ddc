"""Cut time into dated periods: by the calendar, into equal counts, or at given dates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError, unknown
from onward.types import Array

Days = NDArray[np.datetime64]

# From coarse to fine.
CALENDARS = ("yearly", "quarterly", "monthly", "weekly", "daily")
_ENOUGH = 4
_MONTHS = {"yearly": 12, "quarterly": 3, "monthly": 1}


@dataclass(frozen=True)
class Span:
    """A period before it has samples: its name, its first and its last day."""

    name: str
    start: date
    end: date


def cut_time(days: Days, periods: str | int | None) -> tuple[list[Span], str]:
    """Return the spans that have samples, in order of time, and how they were cut.

    Parameters
    ----------
    days
        The day of every sample, in UTC. A day is never cut in two.
    periods
        ``yearly``, ``quarterly``, ``monthly``, ``weekly`` or ``daily``; a number of periods with
        about as many samples each; or dates at which a new period begins, as ``2020-01-01,
        2021-01-01``. None takes the coarsest calendar that gives four periods or more.

    Examples
    --------
    >>> days = np.array(["2020-03-04", "2020-03-09", "2021-01-01"], "datetime64[D]")
    >>> [span.name for span in cut_time(days, "monthly")[0]]
    ['2020-03', '2021-01']
    >>> [span.name for span in cut_time(days, 2)[0]]
    ['2020-03-04..2020-03-04', '2020-03-09..2021-01-01']
    """
    first = days.min()
    counts = np.bincount((days - first).astype(np.int64))
    distinct = first + np.flatnonzero(counts)
    counts = counts[counts > 0]
    if periods is None:
        return _automatic(distinct)
    text = str(periods).strip()
    if text in CALENDARS:
        return _calendar(distinct, text), text
    if text.isdigit():
        return _equal_counts(distinct, counts, int(text)), "of about equal size"
    if any(mark.isdigit() for mark in text):
        return _at_dates(distinct, text), f"cut at {text}"
    raise unknown(
        "periods",
        text,
        [*CALENDARS, "a number", "dates such as 2020-01-01,2021-01-01"],
        "docs/howto/your_data.md",
    )


def place_in(days: Days, spans: Sequence[Span]) -> NDArray[np.int64]:
    """Return the number of the span that each day is in; -1 if it is in none."""
    starts = np.array([span.start for span in spans], "datetime64[D]")
    ends = np.array([span.end for span in spans], "datetime64[D]")
    place = np.searchsorted(starts, days, side="right") - 1
    return np.where((place >= 0) & (days <= ends[place]), place, -1)


def _automatic(distinct: Days) -> tuple[list[Span], str]:
    found = [(_calendar(distinct, name), name) for name in CALENDARS]
    spans, name = next((pair for pair in found if len(pair[0]) >= _ENOUGH), found[-1])
    return spans, f"{name} (chosen: the coarsest with {_ENOUGH} periods or more)"


def _calendar(distinct: Days, name: str) -> list[Span]:
    if name in _MONTHS:
        step = _MONTHS[name]
        months = distinct.astype("datetime64[M]").astype(np.int64) // step * step
        starts = np.unique(months).astype("datetime64[M]")
        ends = (starts + step).astype("datetime64[D]") - 1
        return [
            _span(name, a, b) for a, b in zip(starts.astype("datetime64[D]"), ends, strict=True)
        ]
    if name == "weekly":
        # Day 0 is a Thursday; weeks begin on Mondays, as ISO 8601 has them.
        weeks = np.unique((distinct.astype(np.int64) + 3) // 7)
        first_days = (weeks * 7 - 3).astype("datetime64[D]")
        return [_span(name, day, day + 6) for day in first_days]
    return [_span(name, day, day) for day in distinct]


def _span(name: str, start: Any, end: Any) -> Span:
    first, last = start.item(), end.item()
    year, week, _ = first.isocalendar()
    said = {
        "yearly": f"{first.year:04d}",
        "quarterly": f"{first.year:04d}-Q{(first.month + 2) // 3}",
        "monthly": f"{first:%Y-%m}",
        "weekly": f"{year:04d}-W{week:02d}",
    }
    return Span(said.get(name, f"{first}"), first, last)


def _equal_counts(distinct: Days, counts: Array, wanted: int) -> list[Span]:
    if wanted < 2 or wanted > len(distinct):
        raise OnwardError(
            f"expected from 2 to {len(distinct)} periods, since there are samples of "
            f"{len(distinct)} different days and a day is not cut in two; found {wanted}"
        )
    # A day belongs to the period in which its middle sample falls; each period has one at least.
    middle = np.cumsum(counts) - counts / 2
    place = np.minimum((middle / counts.sum() * wanted).astype(np.int64), wanted - 1)
    number = np.arange(len(distinct))
    starts = np.searchsorted(place, np.arange(wanted))
    for period in range(1, wanted):
        starts[period] = max(starts[period], starts[period - 1] + 1)
    for period in range(wanted - 1, 0, -1):
        starts[period] = min(starts[period], len(number) - (wanted - period))
    ends = np.append(starts[1:], len(distinct)) - 1
    return [
        _dated(distinct[a].item(), distinct[b].item()) for a, b in zip(starts, ends, strict=True)
    ]


def _at_dates(distinct: Days, text: str) -> list[Span]:
    try:
        cuts = [date.fromisoformat(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise OnwardError(
            f"expected dates such as 2020-01-01,2021-01-01 in periods, found {text!r} ({error})"
        ) from error
    if sorted(set(cuts)) != cuts:
        raise OnwardError(f"expected dates in order of time, each once, in periods, found {text!r}")
    first, last = distinct[0].item(), distinct[-1].item()
    starts = [min(first, cuts[0] - timedelta(days=1)), *cuts]
    ends = [*(cut - timedelta(days=1) for cut in cuts), max(last, cuts[-1])]
    whole = [_dated(a, b) for a, b in zip(starts, ends, strict=True)]
    filled = set(place_in(distinct, whole).tolist())
    return [span for number, span in enumerate(whole) if number in filled]


def _dated(start: date, end: date) -> Span:
    return Span(f"{start}..{end}", start, end)
