"""The figures of drift: distances over time with their bands, and what it has to do with a loss."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from onward.drift.hurts import Hurt
from onward.report.figures_time import period_axis
from onward.report.labels import short
from onward.report.style import BAR, COLOURS, DOT, FAINT, canvas, open_left, ruled, styled

FIRST, STEP = COLOURS[0], COLOURS[1]


@dataclass(frozen=True)
class Line:
    """A distance period by period: its value, and the band that it has without drift.

    NaN where there is none. ``certain`` says where it is more than chance.
    """

    name: str
    colour: str
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    certain: Sequence[bool]


@styled
def over_time(
    line: Line, periods: Sequence[str], label: str, limits: tuple[float, float]
) -> Figure:
    """Draw a distance over time; the grey band is where it would be without drift.

    Parameters
    ----------
    line
        With its band.
    periods
        The names of the periods.
    label
        What is measured.
    limits
        The ends of the axis, so that two lines can be compared.
    """
    figure, axes = canvas(4.8, 3.1)
    values = np.array(line.values, float)
    known = np.flatnonzero(np.isfinite(values))
    low, high = np.array(line.low, float), np.array(line.high, float)
    axes.fill_between(known, low[known], high[known], color=FAINT, alpha=0.22, lw=0)
    axes.plot(known, values[known], color=line.colour, lw=1.8)
    sure = np.array(line.certain, bool)
    for mask, face in ((sure, line.colour), (~sure, "#ffffff")):
        shown = known[mask[known]]
        axes.plot(
            shown, values[shown], "o", ms=6, mfc=face, mec=line.colour, mew=1.6, ls="none", zorder=3
        )
    period_axis(axes, periods, room=42)
    axes.set_ylim(*limits)
    axes.set_ylabel(label)
    ruled(axes)
    open_left(axes)
    return figure


@styled
def loss_against_drift(hurt: Hurt, part: str, words: str) -> Figure:
    """Draw each class: how much it drifted, and how much accuracy was lost on it.

    Small dots are pairs of periods, large ones the mean of a class.
    """
    figure, axes = canvas(4.8, 3.4)
    axes.axhline(0, color=FAINT, lw=0.8)
    axes.plot(
        [point.drift[part] for point in hurt.points],
        [100 * point.lost for point in hurt.points],
        "o",
        ms=3,
        color=BAR,
        mew=0,
        alpha=0.8,
    )
    classes = hurt.by_class()
    for name, drift, lost in classes:
        axes.plot(drift[part], 100 * lost, "o", ms=6, color=DOT, mew=0)
        if len(classes) <= 12:
            axes.annotate(
                short(name),
                (drift[part], 100 * lost),
                (5, 3),
                textcoords="offset points",
                fontsize=8.5,
            )
    axes.set_xlabel(words)
    axes.set_ylabel("points of accuracy lost")
    ruled(axes, "both")
    return figure
