"""What happens along the stream: scores period by period, and which classes come when."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.labels import label_ends, short
from onward.report.over_time import Course
from onward.report.style import (
    COLOURS,
    FAINT,
    canvas,
    colours,
    line_of,
    open_left,
    percent_axis,
    styled,
)

_MOST_CLASSES = 9
_MOST_TICKS = 10
# Percent of a bar that a name needs.
_ROOM = 3


@styled
def score_over_time(
    courses: Sequence[Course],
    periods: Sequence[str],
    palette: Mapping[str, str] | None = None,
    score: str = "right answers",
) -> Figure:
    """Draw each method's score after every period that it has learned.

    The band is one standard deviation over seeds to either side; one seed has no band.

    Parameters
    ----------
    courses
        One line each, as `onward.report.over_time.course` makes them.
    periods
        The names of the periods.
    palette
        The colour of each label; by default as `onward.report.style.colours` gives it.
    score
        What is counted, in words.
    """
    figure, axes = canvas(4.8, 3.7)
    courses = [course for course in courses if np.isfinite(course.mean).any()]
    palette = palette or colours([course.label for course in courses])
    ends = {}
    for course in courses:
        known = np.flatnonzero(np.isfinite(course.mean))
        mean, spread = 100 * course.mean[known], 100 * course.deviation[known]
        colour, label = palette[course.label], course.label
        line_of(axes, label, known, mean, colour, (mean - spread, mean + spread))
        ends[label] = (float(known[-1]), float(mean[-1]))
    period_axis(axes, periods, room=42)
    percent_axis(axes, score)
    open_left(axes)
    axes.set_xlabel("last period learned")
    # Names stand on the right: on the left all methods begin alike.
    label_ends(axes, ends, palette, side="right")
    return figure


@styled
def class_mix(periods: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw which share of each period every class has, the most frequent at the bottom.

    Parameters
    ----------
    periods
        How many samples of each class, by period.
    """
    figure, axes = canvas(10, 3.1)
    totals: dict[str, int] = {}
    for counts in periods.values():
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    ranked = sorted(totals, key=lambda name: -totals[name])
    shown, rest = ranked[:_MOST_CLASSES], ranked[_MOST_CLASSES:]
    rows = [[counts.get(name, 0) for counts in periods.values()] for name in shown]
    names = [short(name) for name in shown]
    if rest:
        rows.append([sum(counts.get(name, 0) for name in rest) for counts in periods.values()])
        names.append(f"{len(rest)} others")
    counted = np.array(rows, float)
    shares = 100 * counted / np.maximum(counted.sum(axis=0), 1)
    bottom = np.zeros(len(periods))
    places = np.arange(len(periods))
    for at, (name, share) in enumerate(zip(names, shares, strict=True)):
        colour = COLOURS[at % len(COLOURS)]
        axes.bar(places, share, 0.86, bottom, color=colour, alpha=0.82, ec="white", lw=0.6)
        if share[-1] > _ROOM:
            middle = bottom[-1] + share[-1] / 2
            axes.text(len(periods) - 0.45, middle, name, va="center", fontsize=8.5)
        bottom += share
    period_axis(axes, list(periods), room=100)
    axes.set(xlim=(-0.5, len(periods) - 0.5), ylim=(0, 100))
    axes.yaxis.set_major_formatter("{x:g} %")
    axes.set_ylabel("of a period's samples")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def period_axis(axes: Axes, periods: Sequence[str], room: int) -> None:
    """Name the periods; aslant where there is no room for so many letters."""
    every = max(1, -(-len(periods) // _MOST_TICKS))
    shown = range(0, len(periods), every)
    longest = max((len(periods[at]) for at in shown), default=0)
    tilted = longest * len(shown) > room
    axes.set_xticks(
        list(shown),
        [short(periods[at]) for at in shown],
        rotation=40 if tilted else 0,
        ha="right" if tilted else "center",
        rotation_mode="anchor" if tilted else "default",
        color=FAINT,
    )
    axes.set_xlim(-0.25, len(periods) - 0.75)
