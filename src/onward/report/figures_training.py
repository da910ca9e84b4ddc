"""The figure of a training metric: a line per method through all periods."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from onward.report.labels import label_ends, short
from onward.report.style import RULE, canvas, open_left, ruled, styled

_MOST_TICKS = 10
_ROOM = 42


class Band(NamedTuple):
    """A line with a band: places in periods, means, and deviations."""

    places: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


@styled
def training_curve(
    bands: Mapping[str, Band], periods: Sequence[str], palette: Mapping[str, str], what: str
) -> Figure:
    """Draw a metric while methods trained; faint lines are the beginnings of periods.

    Parameters
    ----------
    bands
        The line of each method, at places counted in periods from 0.
    periods
        The names of the periods.
    palette
        The colour of each method.
    what
        The metric in words.
    """
    figure, axes = canvas(4.8, 3.2)
    ends = {}
    for label, (places, mean, deviation) in bands.items():
        colour = palette[label]
        if deviation.any():
            low, high = mean - deviation, mean + deviation
            axes.fill_between(places, low, high, color=colour, alpha=0.12, lw=0, gid=label)
        axes.plot(places, mean, color=colour, lw=1.5, gid=label)
        ends[label] = (float(places[-1]), float(mean[-1]))
    for boundary in range(1, len(periods)):
        axes.axvline(boundary, color=RULE, lw=0.8, zorder=0)
    every = max(1, -(-len(periods) // _MOST_TICKS))
    shown = range(0, len(periods), every)
    tilted = max(len(periods[at]) for at in shown) * len(shown) > _ROOM
    axes.set_xticks(
        [at + 0.5 for at in shown],
        [short(periods[at]) for at in shown],
        rotation=40 if tilted else 0,
        ha="right" if tilted else "center",
        rotation_mode="anchor",
    )
    axes.set_xlim(0, len(periods))
    axes.set_xlabel("period that is learned")
    axes.set_ylabel(what)
    axes.tick_params(axis="x", length=0)
    ruled(axes)
    open_left(axes)
    label_ends(axes, ends, palette, side="right")
    return figure
