"""A method's scores over time in one line of block characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.report.over_time import WORDS, counted, course, where_to_look
from onward.report.summary import FINAL, Summary, shown_metrics

# Not the full block: lines of two rows would touch.
_BLOCKS = "▁▂▃▄▅▆▇"
_LONGEST = 20


@dataclass(frozen=True, eq=False)
class Sparklines:
    """The scores of several methods over time, on one scale.

    ``words`` says what was tested, ``lines`` has a line for each method, blank where nothing was.
    """

    words: str
    low: float
    high: float
    lines: tuple[str, ...]


def sparklines(summaries: Sequence[Summary]) -> Sparklines | None:
    """Draw the methods of one setting period by period; None where there is one period at most.

    Where the last model is what counts, as of domains without an order, it is drawn on each period.
    """
    where = None if shown_metrics(summaries)[:1] == [FINAL] else where_to_look(summaries)
    if where is not None:
        words = f"{counted(summaries, where)} on {WORDS[where]}"
        series = [course(item, where).mean for item in summaries]
    else:
        words = "on each period, in the end"
        series = [np.asarray(item.matrix[-1]) for item in summaries]
    if max(np.count_nonzero(~np.isnan(values)) for values in series) < 2:
        return None
    filled = np.concatenate([values[~np.isnan(values)] for values in series])
    low, high = float(filled.min()), float(filled.max())
    return Sparklines(words, low, high, tuple(sparkline(values, low, high) for values in series))


def sparkline(values: Sequence[float] | NDArray[np.float64], low: float, high: float) -> str:
    """Draw one block per value between two ends; more than twenty are averaged, neighbour-wise.

    Examples
    --------
    >>> sparkline([0.2, 0.5, float("nan"), 0.9], 0.2, 0.9)
    '▁▄ ▇'
    """
    drawn = []
    for part in np.array_split(np.asarray(values, float), min(len(values), _LONGEST)):
        there = part[~np.isnan(part)]
        if not there.size:
            drawn.append(" ")
            continue
        share = (there.mean() - low) / (high - low) if high > low else 0.5
        drawn.append(_BLOCKS[min(int(share * len(_BLOCKS)), len(_BLOCKS) - 1)])
    return "".join(drawn)
