"""What quality costs: every method as a point, and the front that nobody beats on both counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.figure import Figure

from onward.report.labels import Point, label_points
from onward.report.style import FAINT, canvas, colours, percent_axis, styled
from onward.report.summary import Summary, headline

Cost = Literal["cpu_seconds", "macs"]
_WORDS = {"cpu_seconds": "CPU seconds of a run", "macs": "multiply-adds of a run"}
# Where the dearest takes more than so many times what the cheapest does, steps are of ten.
_WIDE = 30


@dataclass(frozen=True)
class Priced:
    """A method's quality and what it costs."""

    summary: Summary
    cost: float
    quality: float


def pareto(found: Sequence[Priced]) -> list[Priced]:
    """Return those that no other is both as cheap as and better than, the cheapest first.

    Examples
    --------
    >>> front = pareto([Priced(None, 1, .5), Priced(None, 2, .4), Priced(None, 3, .6)])
    >>> [(item.cost, item.quality) for item in front]
    [(1, 0.5), (3, 0.6)]
    """
    front: list[Priced] = []
    for item in sorted(found, key=lambda item: (item.cost, -item.quality)):
        if not front or item.quality > front[-1].quality:
            front.append(item)
    return front


def priced(summaries: Sequence[Summary], metric: str, cost: Cost) -> list[Priced]:
    """Return the methods for which both numbers are there."""
    found = [
        Priced(item, item.cost[cost], item.metrics[metric].mean)
        for item in summaries
        if item.metrics[metric].known
    ]
    return [item for item in found if item.cost > 0]


@styled
def quality_against_cost(
    summaries: Sequence[Summary],
    palette: Mapping[str, str] | None = None,
    *,
    metric: str | None = None,
    cost: Cost = "cpu_seconds",
    quality: str = "right answers on the next period",
) -> Figure:
    """Draw quality against cost; a marker's area grows with the samples stored.

    The line joins the methods that no other beats on both counts.

    Parameters
    ----------
    summaries
        One setting's methods.
    palette
        The colour of each label, as `onward.report.style.colours` gives it.
    metric
        Which quality; by default the setting's first one.
    cost
        What it is set against.
    quality
        What is written beside the axis.
    """
    figure, axes = canvas(4.8, 3.7)
    chosen = metric or headline(summaries) or "next_domain"
    palette = palette or colours([item.label for item in summaries])
    shown = priced(summaries, chosen, cost)
    most = max((item.summary.cost["stored_samples"] for item in shown), default=0) or 1
    points = {}
    for item in shown:
        measure, label = item.summary.metrics[chosen], item.summary.label
        area = 45 + 420 * item.summary.cost["stored_samples"] / most
        point = Point(
            x=item.cost,
            y=100 * item.quality,
            radius=float(np.sqrt(area / np.pi)),
            spread=float(np.nan_to_num(100 * measure.deviation)),
        )
        points[label] = point
        colour = palette[label]
        bar = axes.errorbar(point.x, point.y, point.spread, color=colour, lw=1.2, alpha=0.5)
        for part in bar.get_children():
            part.set_gid(label)
        axes.scatter(point.x, point.y, area, color=colour, ec="white", zorder=3, gid=label)
    front = pareto(shown)
    if len(front) > 1:
        path = [[item.cost for item in front], [100 * item.quality for item in front]]
        axes.plot(*path, color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1)
    costs = [item.cost for item in shown]
    if costs and max(costs) > _WIDE * min(costs):
        axes.set_xscale("log")
        axes.set_xlim(min(costs) / 1.6, max(costs) * 2.5)
        axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.6g}")
        axes.xaxis.set_minor_formatter("")
    else:
        axes.set_xlim(0, 1.2 * max(costs, default=1))
    axes.set_xlabel(_WORDS[cost])
    percent_axis(axes, quality)
    label_points(axes, points, palette)
    return figure
