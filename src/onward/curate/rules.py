"""What makes a row of metadata valid, and where it belongs, for any engine that Narwhals speaks to.

Each function takes a lazy frame and returns one. None of them numbers all rows, or sorts them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from onward.curate.records import POOL

KEPT = ("order", *POOL.names)
ROW_BITS = 32
"""A row's place among all rows is its piece, and its place in there in so many bits."""

DAY = 86_400_000_000
"""A day in microseconds."""

NO_ID, NO_TIME, NO_TAKEN = "no id", "no time", "no capture time"
UNREAD, TAKEN_UNREAD = "time not understood", "capture time not understood"
UNSET = "time in 1970, as of a clock that was never set"
LATE, EARLY = "time in the future", "time before the earliest one asked for"
NOT_AFTER = "not uploaded after it was captured"
SEEN = "id seen before"
_YEAR_1970 = 365 * DAY
_BEFORE = 1_000_000

Frame = nw.LazyFrame[Any]


@dataclass(frozen=True)
class Limits:
    """Between which moments a time is taken for one, in microseconds since 1970.

    Without an earliest moment only times in 1970 are refused: that is where a clock begins that
    nobody has set. With `captured`, a row needs a capture time before its time.
    """

    latest: int
    earliest: int | None = None
    captured: bool = False


def judged(frame: Frame, limits: Limits) -> Frame:
    """Add a column ``reason``: why a row is not kept, null if it is."""
    time, taken = nw.col("time"), nw.col("taken")
    rules = [
        (nw.col("id").fill_null("") == "", NO_ID),
        (time.is_null() & nw.col("time_unsaid"), NO_TIME),
        (time.is_null(), UNREAD),
        (time > limits.latest, LATE),
        (time < limits.earliest, EARLY)
        if limits.earliest is not None
        else ((time >= 0) & (time < _YEAR_1970), UNSET),
    ]
    if limits.captured:
        rules += [
            (taken.is_null() & nw.col("taken_unsaid"), NO_TAKEN),
            (taken.is_null(), TAKEN_UNREAD),
            (taken >= time, NOT_AFTER),
        ]
    reasons = [nw.when(broken).then(nw.lit(reason)) for broken, reason in rules]
    return frame.with_columns(nw.coalesce(nw.col("fault"), *reasons).alias("reason"))


def counted(frame: Frame) -> Frame:
    """Count judged rows by their reason, and moments that were said and understood."""
    return frame.group_by("reason").agg(
        nw.len().alias("rows"),
        nw.col("time").count().alias("times"),
        nw.col("taken").count().alias("takens"),
    )


def with_piece(frame: Frame) -> Frame:
    """Add a column ``piece``: the number of the piece that a row was read from."""
    order = nw.col("order")
    piece = (order - order % (1 << ROW_BITS)) // (1 << ROW_BITS)
    return frame.with_columns(piece.cast(nw.Int64).alias("piece"))


def nth_of(frame: Frame, key: Sequence[str], order: Sequence[str]) -> Frame:
    """Add a column ``nth``: 1 for the first row of a key."""
    nth = nw.col("order").cum_count().over(*key, order_by=list(order))
    return frame.with_columns(nth.alias("nth"))


def nth_of_id(frame: Frame) -> Frame:
    """Add a column ``nth``: 1 for the earliest row of an id, of several the first one read."""
    return nth_of(frame, ["id"], ["time", "order"])


def per_day(frame: Frame) -> Frame:
    """Count rows by ``day``, the number of days since 1970."""
    # Counted from a day before all history: engines disagree about remainders of negative numbers.
    since = nw.col("time") + _BEFORE * DAY
    days = frame.select(((since - since % DAY) // DAY - _BEFORE).cast(nw.Int64).alias("day"))
    return days.group_by("day").agg(nw.len().alias("rows"))


def keys_of_day(frame: Frame, day: int) -> Frame:
    """Return time and id of the rows of a day."""
    time = nw.col("time")
    held = frame.filter(time >= day * DAY, time < (day + 1) * DAY)
    return held.select("time", "id")


def between(frame: Frame, first: tuple[int, str], last: tuple[int, str] | None) -> Frame:
    """Keep the rows from one (time, id) to before another."""
    kept = frame.filter(at_or_after(*first))
    return kept if last is None else kept.filter(~at_or_after(*last))


def at_or_after(time: int, id: str) -> nw.Expr:
    """Say of a row whether it stands at (time, id) or behind it."""
    here = nw.col("time")
    return (here > time) | ((here == time) & (nw.col("id") >= id))


def parted(frame: Frame, starts: Sequence[tuple[int, str]]) -> Frame:
    """Add a column ``part``: the number of these keys that a row stands at or behind, less one."""
    places = [at_or_after(time, id).cast(nw.Int32) for time, id in starts]
    return frame.with_columns((nw.sum_horizontal(*places) - 1).alias("part"))
