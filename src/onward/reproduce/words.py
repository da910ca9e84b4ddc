"""An outcome in words, the same in the terminal, in Markdown and in the file of results."""

import math
import re

from onward.report.numbers import MISSING, points
from onward.report.summary import Measure
from onward.report.words import seeds as count_seeds
from onward.reproduce.claims import Cell, Judgement, Tested
from onward.reproduce.engine import Outcome
from onward.reproduce.table import PaperTable


def number(measure: Measure | None) -> str:
    """Return our number as tables show it."""
    return MISSING if measure is None else measure.percent().replace(" ± ", "±")


def cell_name(table: PaperTable, cell: Cell) -> str:
    """Return a cell by the labels of its row and its column."""
    row, column = table.row(cell.row), table.column(cell.column)
    return f"{row.label} ({column.heading}, {row.protocol or column.protocol})"


def tested(table: PaperTable, pair: Tested) -> str:
    """Return what the seeds say of one pair."""
    low, high = pair.interval
    sure = "(no interval from so few seeds)"
    if math.isfinite(low):
        sure = f"(95 % interval {points(low)} to {points(high)})"
    sure += f", p = {pair.verdict.p:.2g}"
    if pair.verdict.same_rows:
        sure = "(no interval: one split for all seeds)"
    return (
        f"{cell_name(table, pair.pair.above)} against {cell_name(table, pair.pair.below)}: "
        f"{points(pair.verdict.difference)} points {sure}, "
        f"{count_seeds(pair.verdict.n)}"
    )


def counted(judgement: Judgement) -> str:
    """Return how many pairs are decided which way.

    A claim of one pair needs no counting.
    """
    counts = judgement.counts()
    total = len(judgement.claim.pairs)
    shown = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return "" if total == 1 else f"{total} pairs: {shown}"


def seeds_used(outcome: Outcome) -> str:
    """Return with how many seeds the rows were run."""
    counts = sorted({len(each.repetitions) for each in outcome.plan.planned})
    most = count_seeds(counts[-1])
    return most if len(counts) == 1 else f"{counts[0]} to {most}"


def file_name(row: str) -> str:
    """Return what the picture of a row is called.

    Examples
    --------
    >>> file_name("linear/ewc")
    'linear-ewc.png'
    """
    return re.sub(r"[^\w.=-]", "-", row) + ".png"


def duration(seconds: float) -> str:
    """Return a time in the unit in which people think of it.

    Examples
    --------
    >>> duration(40), duration(200), duration(8000), duration(400_000)
    ('40 s', '3 min', '2.2 h', '4.6 days')
    >>> duration(1e9)
    '31.7 years'
    """
    units = ((365.25 * 86_400, "years", 1), (86_400, "days", 1), (3_600, "h", 1), (60, "min", 0))
    for size, unit, digits in units:
        if seconds >= 1.5 * size:
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{seconds:.0f} s"
