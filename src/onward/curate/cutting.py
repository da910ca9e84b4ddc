"""Where a pool is cut: into buckets, and each of them into parts that fit into memory.

A bucket begins at a place in the order of (time, id), and that place is found without the order: a
count per day says on which day it is, and only the rows of that day are looked at again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from onward.curate.rules import DAY
from onward.data.calendar import cut_time
from onward.errors import OnwardError

EVERY = {"year": "yearly", "quarter": "quarterly", "month": "monthly"}
PART_ROWS = 125_000
Key = tuple[int, str]


@dataclass(frozen=True)
class Cut:
    """A part of a bucket: its rows, (time, id) from which on they are in it, and where it lies."""

    bucket: int
    rows: int
    start: Key
    path: str


def equal_sizes(rows: int, buckets: int) -> list[int]:
    """Return how many rows each bucket has: the same, but what is over goes to the earliest ones.

    Examples
    --------
    >>> equal_sizes(11, 4)
    [3, 3, 3, 2]
    """
    if rows < buckets:
        raise OnwardError(
            f"expected at least one row for each of {buckets:,} buckets, found {rows:,} valid rows "
            "in all. Ask for fewer buckets"
        )
    return [rows // buckets + (number < rows % buckets) for number in range(buckets)]


def calendar_sizes(days: Mapping[int, int], every: str) -> tuple[list[int], list[str]]:
    """Return how many rows each period has, and its name; periods without rows are left out."""
    known = np.array(sorted(days), "datetime64[D]")
    spans, _ = cut_time(known, EVERY[every])
    ends = np.array([span.end for span in spans], "datetime64[D]")
    counts = np.cumsum([days[day] for day in sorted(days)])
    upto = counts[np.searchsorted(known, ends, side="right") - 1]
    return np.diff(upto, prepend=0).tolist(), [span.name for span in spans]


def cuts(
    sizes: Sequence[int],
    days: Mapping[int, int],
    keys_of_day: Callable[[int], Sequence[Key]],
    most: int = PART_ROWS,
) -> list[Cut]:
    """Return all parts of all buckets, in order of time.

    Parameters
    ----------
    sizes
        How many rows each bucket has.
    days
        How many rows there are of each day, by its number since 1970.
    keys_of_day
        Returns (time, id) of the rows of a day, in order. Asked for a few days only.
    most
        How many rows a part may have.
    """
    order = sorted(days)
    upto = np.cumsum([days[day] for day in order])
    found: list[Cut] = []
    first = 0
    keys: dict[int, Sequence[Key]] = {}
    for bucket, rows in enumerate(sizes):
        for number, part in enumerate(equal_sizes(rows, -(-rows // most))):
            place = int(np.searchsorted(upto, first, side="right"))
            within = first - int(upto[place] - days[order[place]])
            day = order[place]
            if within and day not in keys:
                keys = {day: keys_of_day(day)}
            start = keys[day][within] if within else (day * DAY, "")
            found.append(Cut(bucket, part, start, part_path(bucket, number, len(sizes))))
            first += part
    return found


def part_path(bucket: int, number: int, buckets: int) -> str:
    """Return where a part of one of so many buckets lies; names sort as numbers do.

    Examples
    --------
    >>> part_path(3, 1, 11)
    '03/00001.parquet'
    """
    digits = max(2, len(str(buckets - 1)))
    return f"{bucket:0{digits}d}/{number:05d}.parquet"
