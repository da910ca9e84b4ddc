"""A method's scores over time in one line of block characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.report.summary import FINAL, POOLED_METRICS, STATIC_METRICS, TEST, Summary
from onward.report.words import metric_words
from onward.results.predictions import POOLED

_BLOCKS = "▁▂▃▄▅▆▇█"
_LONGEST = 20


@dataclass(frozen=True, eq=False)
class OverTime:
    """The scores of several methods over time, on one scale.

    ``words`` says what they are of, ``lines`` has a line for each method, blank where nothing was
    measured.
    """

    words: str
    low: float
    high: float
    lines: tuple[str, ...]


def over_time(summaries: Sequence[Summary], metric: str) -> OverTime | None:
    """Draw what a metric is the mean of, period by period; None where there is one at most.

    Parameters
    ----------
    summaries
        One setting's.
    metric
        The first of the metrics that are shown.
    """
    series = [_series(item, metric) for item in summaries]
    filled = np.concatenate([values[~np.isnan(values)] for values in series])
    if max(np.count_nonzero(~np.isnan(values)) for values in series) < 2:
        return None
    low, high = float(filled.min()), float(filled.max())
    lines = tuple(sparkline(values, low, high) for values in series)
    return OverTime(_words(metric), low, high, lines)


def sparkline(values: Sequence[float] | NDArray[np.float64], low: float, high: float) -> str:
    """Draw one block per value between two ends; more than twenty are averaged, neighbour-wise.

    Examples
    --------
    >>> sparkline([0.2, 0.5, float("nan"), 0.9], 0.2, 0.9)
    '▁▄ █'
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


def _series(item: Summary, metric: str) -> NDArray[np.float64]:
    R = item.matrix
    if metric in STATIC_METRICS:
        return _mean_of([run.static(TEST, "class_mean_accuracy") for run in item.records])
    if metric in POOLED_METRICS:
        return _mean_of([run.static(POOLED) for run in item.records])
    if metric == FINAL:
        return np.asarray(R[-1])
    if metric == "next_domain":
        return np.append(np.diagonal(R, 1), np.nan)
    if metric == "in_domain":
        return np.asarray(np.diagonal(R))
    # Of any other metric, what the model of each period scores on all that it is tested on.
    counts = (~np.isnan(R)).sum(1)
    sums = np.nansum(R, axis=1)
    return np.divide(sums, counts, out=np.full(len(R), np.nan), where=counts > 0)


def _mean_of(runs: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.asarray(np.mean(runs, axis=0), np.float64)


def _words(metric: str) -> str:
    if metric in STATIC_METRICS:
        return "the test's classes after each period"
    if metric in POOLED_METRICS:
        return "pooled after each period"
    if metric == FINAL:
        return "each period, in the end"
    if metric in ("next_domain", "in_domain"):
        return f"{metric_words(metric)[0]} after each period"
    return "all that is tested after each period"
