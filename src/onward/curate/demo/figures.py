"""The figures of the demonstration's page: what is estimated, beside what is true."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.style import BAR, COLOURS, DOT, FAINT, INK, RULE, styled

_TRUE = COLOURS[1]


@styled
def people_figure(people: Sequence[Mapping[str, Any]], pass_mark: float) -> Figure:
    """Draw each annotator's share of right answers: on gold with its interval, and in truth."""
    figure = Figure(figsize=(4.9, 1.1 + 0.32 * len(people)), layout="constrained")
    axes = figure.subplots()
    for row, one in enumerate(people):
        low, high = (100 * end for end in one["interval"])
        axes.plot([low, high], [row, row], color=BAR, lw=6, solid_capstyle="round")
        gold = one["gold"]
        if gold["of"]:
            axes.plot(100 * gold["right"] / gold["of"], row, "o", color=DOT, ms=6)
        if one["true"] is not None:
            axes.plot(100 * one["true"], row, "D", color=_TRUE, ms=6)
    axes.axvline(100 * pass_mark, color=FAINT, lw=0.8, ls=(0, (4, 3)))
    names = [one["name"] + " (shut out)" * one["revoked"] for one in people]
    _rows(axes, names)
    axes.set_xlim(min(40.0, *(100 * one["interval"][0] for one in people)) - 2, 101)
    axes.set_xlabel("right answers")
    _name(figure, {"on gold, 95 % interval": (DOT, "o"), "in truth": (_TRUE, "D")})
    return figure


@styled
def error_figure(error: Mapping[str, Any]) -> Figure:
    """Draw the estimated label error with its interval, and the true one."""
    figure = Figure(figsize=(4.9, 1.5), layout="constrained")
    axes = figure.subplots()
    found = error["estimated"]
    axes.plot([100 * found["low"], 100 * found["high"]], [0, 0], color=BAR, lw=9)
    axes.plot(100 * found["estimate"], 0, "o", color=DOT, ms=8)
    axes.plot(100 * error["true"], 0, "D", color=_TRUE, ms=8)
    _rows(axes, [""])
    axes.set_xlim(0, 1.08 * 100 * max(found["high"], error["true"]))
    axes.set_xlabel("wrong labels")
    _name(figure, {"estimated, 95 % interval": (DOT, "o"), "in truth": (_TRUE, "D")})
    return figure


def _rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=9.5)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter("{x:g} %")
    axes.grid(axis="x", color=RULE, lw=0.8)
    axes.set_axisbelow(True)


def _name(figure: Figure, marks: Mapping[str, tuple[str, str]]) -> None:
    """Say above a figure what its marks are."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=mark, ls="", ms=6, label=label)
        for label, (colour, mark) in marks.items()
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=2, frameon=False, fontsize=9)
