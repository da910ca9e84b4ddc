"""When a pair of URL and caption was first seen, for any engine that Narwhals speaks to."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from onward.curate.cutting import PART_ROWS, Key, calendar_sizes, part_path
from onward.curate.pair_reading import FAULTS
from onward.curate.rules import DAY, SEEN, Frame

NOWHERE, TWICE = "in no snapshot", "the same url and caption as an earlier row"
REASONS = (*FAULTS, NOWHERE, TWICE, SEEN)
"""Why a pair is not kept."""


@dataclass(frozen=True)
class Part:
    """A file of a bucket: (time, id) from which on rows are in it, and where it lies."""

    bucket: int
    month: int
    start: Key
    path: str


def first_month(frame: Frame, key: Sequence[str]) -> Frame:
    """Return the first month of each key."""
    return frame.group_by(*key).agg(nw.col("month").min())


def dated(pool: Frame, first: Frame, key: Sequence[str]) -> Frame:
    """Add a column ``month`` to rows of a pool, null where no snapshot has them."""
    return pool.join(first, on=list(key), how="left")


def micros_of(month: int) -> int:
    """Return the first moment of a month."""
    return int(np.datetime64(month, "M").astype("datetime64[D]").astype(np.int64)) * DAY


def parts_of(
    rows: dict[int, int], every: str, most: int = PART_ROWS
) -> tuple[list[Part], list[str]]:
    """Return the parts of all buckets, in order of time, and the names of buckets.

    A month is cut at evenly spaced ids, which are hashes. So no engine has to sort all rows.
    """
    months = sorted(rows)
    days = {micros_of(month) // DAY: rows[month] for month in months}
    sizes, names = calendar_sizes(days, every)
    ends = np.cumsum(sizes)
    upto = np.cumsum([rows[month] for month in months])
    parts: list[Part] = []
    for month, last in zip(months, upto.tolist(), strict=True):
        bucket = int(np.searchsorted(ends, last))
        pieces = -(-rows[month] // most)
        for piece in range(pieces):
            bound = -(-(piece << 32) // pieces)
            number = sum(part.bucket == bucket for part in parts)
            start = (micros_of(month), f"{bound:08x}" if piece else "")
            path = part_path(bucket, number, len(sizes))
            parts.append(Part(bucket, month, start, path))
    return parts, names
