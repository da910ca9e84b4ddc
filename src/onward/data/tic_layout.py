"""What the released layouts of TiC-CLIP come to, before rows and tests are made of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from onward.data.counts import Count
from onward.data.gaps import Gaps
from onward.data.pair_files import PairFiles
from onward.types import Rows

FIRST_YEAR, MERGED = 2014, 2016
"""TiC-DataComp's first period is all that there is up to the end of 2016."""
OWN = "periods.json"
"""What a folder of your own pairs has: its years stay apart, however early they are."""


def no_samples() -> Rows:
    """Return no samples."""
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is to be read and how: the words of `onward.data.tic_folder.read_tic`."""

    root: Path
    gaps: Gaps
    calendar: str | None
    shards: str | None
    images: Path | None
    pool: bool
    progress: Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Step:
    """A period as a layout has it, in numbers of samples.

    ``name`` is the year, the month (201403) or the years (2004-2008); ``start`` and ``end`` are its
    first and last day. ``train`` is to learn from; in ``test`` images and texts are to find each
    other; the images of ``classified`` are to find their class, whose number ``labels`` has.
    """

    name: str
    start: date
    end: date
    train: Rows
    test: Rows
    classified: Rows = field(default_factory=no_samples)
    labels: Rows = field(default_factory=no_samples)


@dataclass(frozen=True, eq=False)
class Layout:
    """All that was found on disk.

    ``steps`` are the periods, in order of time; ``prompts`` what stands for each of ``classes``,
    one line for each template; ``counts`` the numbers that the layout tells of itself, beside what
    was found; ``notes`` what else is to be told about it.
    """

    name: str
    files: PairFiles
    steps: tuple[Step, ...]
    classes: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    counts: tuple[Count, ...] = ()
    notes: tuple[str, ...] = ()


def is_own(root: Path) -> bool:
    """Whether a folder has pairs of your own: see `onward.curate.write_shards`."""
    return (root / OWN).is_file()


def layout_name(root: Path, calendar: str) -> str:
    """Return what a folder's layout is called."""
    return f"{'dated pairs' if is_own(root) else 'TiC-DataComp'}, {calendar}"


def span_of(name: str, *, merged: bool = True) -> tuple[date, date]:
    """Return the first and last day of a year or a month.

    Examples
    --------
    >>> span_of("201402")
    (datetime.date(2014, 2, 1), datetime.date(2014, 2, 28))
    >>> span_of("2016")
    (datetime.date(2014, 1, 1), datetime.date(2016, 12, 31))
    >>> span_of("2016", merged=False)[0]
    datetime.date(2016, 1, 1)
    """
    year = int(name[:4])
    if len(name) == 4:
        first = FIRST_YEAR if merged and year == MERGED else year
        return date(first, 1, 1), date(year, 12, 31)
    start = date(year, int(name[4:]), 1)
    return start, (start + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def is_time(name: str, calendar: str) -> bool:
    """Whether a name is that of a year, or of a month."""
    if not name.isdigit() or len(name) != {"yearly": 4, "monthly": 6}[calendar]:
        return False
    return calendar == "yearly" or 1 <= int(name[4:]) <= 12


def step_of(time: str, calendar: str, *, merged: bool = True) -> str:
    """Return the name of the period that a year or a month belongs to."""
    return str(max(int(time), MERGED)) if merged and calendar == "yearly" else time


def tested(steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the periods that can be learned and tested, and what is to be told about others."""
    whole = tuple(step for step in steps if len(step.train) and len(step.test))
    notes = tuple(
        f"{step.name} is left out: it has {len(step.train):,} samples to learn and "
        f"{len(step.test):,} to test with"
        for step in steps
        if step not in whole
    )
    return whole, notes


def different(counts: Sequence[Count]) -> list[str]:
    """Say which numbers are not those that the layout tells of itself."""
    return [
        f"{count.source} has {count.expected:,} {count.what}, found {count.found:,}"
        for count in counts
        if not count.right
    ]
