"""Scores of methods along periods: a line each, in one panel or in several side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onward.report.labels import short, spread_apart
from onward.report.numbers import MISSING
from onward.report.style import COLOURS, FAINT, colours, panels, percent_axis, styled
from onward.types import Array

MOST = len(COLOURS)
"""How many methods a picture holds; those that lead come first."""
_TICKS = 9


@dataclass(frozen=True, eq=False)
class Panel:
    """What is above a panel, and scores (seed, place) by method, NaN where there is none."""

    title: str
    lines: Mapping[str, Array]

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return any(np.isfinite(scores).any() for scores in self.lines.values())


@styled
def line_panels(lines: Sequence[Panel], places: Sequence[str], score: str, along: str) -> Figure:
    """Draw each method's mean along places; its band is one deviation over seeds to either side.

    Parameters
    ----------
    lines
        One panel or more; they share their places and the scale of scores.
    places
        What the periods are called.
    score, along
        What the axes are called.
    """
    labels = list(dict.fromkeys(label for panel in lines for label in panel.lines))
    alone = len(lines) == 1
    # Names stand beside the lines of one panel, and below several.
    names = 0.0 if alone else 0.25 + 0.2 * -(-len(labels) // 4)
    widths = {1: 6.4, 2: 9.2, 3: 9.9}
    figure, grid = panels(
        len(lines), 3, lambda wide, high: (widths[wide], 3.3 * high + names), sharey=True
    )
    styles = looks(labels)
    for axes, panel in zip(grid.ravel(), lines, strict=False):
        for label, scores in panel.lines.items():
            _line(axes, label, 100 * scores, styles[label])
        _places(axes, places, len(lines))
        axes.set_title("" if alone else panel.title, loc="left", fontweight="bold")
        axes.set_xlabel(along, color=FAINT)
        percent_axis(axes, score if axes in grid[:, 0] else "")
    if alone:
        _name_ends(grid[0, 0], lines[0], styles)
    else:
        name_below(figure, styles)
    return figure


def looks(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Give each method its look, the same as elsewhere."""
    return {label: {"color": colour, "lw": 2} for label, colour in colours(labels).items()}


def name_below(figure: Figure, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Name the lines of several panels once, below all of them."""
    handles = [Line2D([], [], label=short(label), **style) for label, style in styles.items()]
    columns = min(4, len(handles))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _line(axes: Axes, label: str, scores: Array, look: Mapping[str, Any]) -> None:
    mean = scores.mean(0)
    known = np.flatnonzero(np.isfinite(mean))
    if len(scores) > 1:
        spread = scores.std(0, ddof=1)[known]
        # No score is below 0 or above 100, whatever a deviation says.
        ends = (np.clip(mean[known] + side * spread, 0, 100) for side in (-1, 1))
        axes.fill_between(known, *ends, color=look["color"], alpha=0.1, lw=0, gid=label)
    axes.plot(known, mean[known], marker="o", ms=3.5, gid=label, **look)


def _places(axes: Axes, places: Sequence[str], panels: int) -> None:
    every = -(-len(places) // (_TICKS if panels < 3 else _TICKS // 2 + 1))
    shown = range(0, len(places), every)
    slanted = sum(len(places[at]) for at in shown) > (40 if panels == 1 else 24)
    turn: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(shown, [short(places[at]) for at in shown], **(turn if slanted else {}))
    axes.set_xlim(-0.4, len(places) - 0.6)


def _name_ends(axes: Axes, panel: Panel, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the name of each line beside its right end."""
    ends = {}
    for label, scores in panel.lines.items():
        known = np.flatnonzero(np.isfinite(scores.mean(0)))
        if len(known):
            ends[label] = (int(known[-1]), 100 * float(scores.mean(0)[known[-1]]))
    ordered = sorted(ends.items(), key=lambda item: item[1][1])
    low, high = axes.get_ylim()
    heights = spread_apart([height for _, (_, height) in ordered], gap=(high - low) * 0.06)
    for (label, end), height in zip(ordered, heights, strict=True):
        colour = styles[label]["color"]
        axes.annotate(
            short(label),
            end,
            xytext=(1.03, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=colour,
            fontweight="bold",
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "alpha": 0.6},
            annotation_clip=False,
            gid=label,
        )


def spoken(panel: Panel, places: Sequence[str]) -> str:
    """Return the first and the last number of every line, in words."""
    parts = []
    for label, scores in panel.lines.items():
        mean = 100 * scores.mean(0)
        known = np.flatnonzero(np.isfinite(mean))
        if not len(known):
            parts.append(f"{label} {MISSING}")
            continue
        first, last = int(known[0]), int(known[-1])
        begins = "" if first == last else f"{mean[first]:.1f} % at {places[first]}, "
        parts.append(f"{label} {begins}{mean[last]:.1f} % at {places[last]}")
    return "; ".join(parts)
