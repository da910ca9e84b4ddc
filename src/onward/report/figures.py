"""The figures of a report, drawn at the size at which the page shows them.

Each function returns a matplotlib `Figure` that belongs to nobody else: no window, no global state.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from onward.report.decay import Curve
from onward.report.figures_cost import quality_against_cost
from onward.report.figures_time import class_mix, score_over_time
from onward.report.labels import label_ends, short
from onward.report.style import (
    AS_DRAWN,
    BAR,
    DOT,
    EMPTY,
    FAINT,
    INK,
    MAP,
    canvas,
    colours,
    ink_on,
    line_of,
    open_left,
    panels,
    percent_axis,
    ruled,
    styled,
)
from onward.report.summary import Measure, Summary

__all__ = [
    "accuracy_by_distance",
    "class_decay_bars",
    "class_mix",
    "quality_against_cost",
    "score_limits",
    "score_matrices",
    "score_over_time",
]


def score_limits(summaries: Sequence[Summary]) -> tuple[float, float]:
    """Return the smallest and the largest mean score, for one colour scale over all panels."""
    cells = np.concatenate([summary.matrix.ravel() for summary in summaries])
    filled = cells[~np.isnan(cells)]
    return (float(filled.min()), float(filled.max())) if filled.size else (0.0, 1.0)


@styled
def score_matrices(
    summaries: Sequence[Summary], limits: tuple[float, float] | None = None, columns: int = 3
) -> Figure:
    """Draw the mean score matrix of each method, all on one colour scale.

    Cells that the protocol leaves empty are hatched and carry no number.

    Parameters
    ----------
    summaries
        One panel each; they share their periods.
    limits
        The ends of the colour scale; by default what these summaries span.
    columns
        How many panels stand side by side.
    """
    figure, grid = panels(len(summaries), columns, lambda wide, high: (3.75 * wide, 3.75 * high))
    for axes, summary in zip(grid.ravel(), summaries, strict=False):
        _matrix(axes, summary, limits or score_limits(summaries))
    return figure


def _matrix(axes: Axes, summary: Summary, limits: tuple[float, float]) -> None:
    matrix, size = 100 * summary.matrix, len(summary.matrix)
    low, high = 100 * limits[0], 100 * limits[1]
    empty = np.isnan(matrix)
    mesh = axes.pcolormesh(
        np.ma.masked_array(matrix, empty),
        cmap=MAP,
        vmin=low,
        vmax=high,
        edgecolors="white",
        linewidth=0.8,
    )
    for i, j in np.ndindex(size, size):
        if empty[i, j]:
            axes.add_patch(
                Rectangle((j, i), 1, 1, facecolor=EMPTY, edgecolor="#d5d8db", hatch="////", lw=0)
            )
        elif size <= 20:
            axes.text(
                j + 0.5,
                i + 0.5,
                f"{matrix[i, j]:.1f}" if size <= 10 else f"{matrix[i, j]:.0f}",
                ha="center",
                va="center",
                fontsize=min(7.5, 60 / size),
                color=ink_on(mesh.cmap(mesh.norm(matrix[i, j]))),
                in_layout=False,
                gid=AS_DRAWN,
            )
    ticks = np.arange(size) + 0.5
    axes.set_xticks(ticks, summary.spec.periods, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(ticks, summary.spec.periods)
    axes.tick_params(length=0, labelsize=min(7.5, 80 / size))
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    axes.spines[:].set_visible(False)
    axes.set_xlabel("tested on", fontsize=8)
    axes.set_ylabel("learned up to", fontsize=8)
    axes.set_title(short(summary.label), loc="left", fontsize=11, fontweight="bold")


@styled
def accuracy_by_distance(
    curves: Sequence[Curve],
    palette: Mapping[str, str] | None = None,
    years: Mapping[int, float] | None = None,
    score: str = "right answers",
) -> Figure:
    """Draw each method's score against the time between learning and testing.

    The band is one standard deviation over seeds to either side; one seed has no band.

    Parameters
    ----------
    curves
        One line each.
    palette
        The colour of each label; by default as `colours` gives it.
    years
        How many years each distance is, on average; written below it if given.
    score
        What is counted, in words.
    """
    figure, axes = canvas(4.8, 3.7)
    curves = [line for line in curves if line.by_distance]
    palette = palette or colours([line.label for line in curves])
    for line in curves:
        colour, mean, spread = palette[line.label], 100 * line.mean, 100 * line.deviation
        line_of(axes, line.label, line.distances, mean, colour, (mean - spread, mean + spread))
    distances = sorted({int(distance) for line in curves for distance in line.distances})
    if distances and distances[0] < 0 < distances[-1]:
        axes.axvline(0, color=FAINT, lw=0.8, zorder=0)
        for side, word, align in ((-0.2, "← the past", "right"), (0.2, "the future →", "left")):
            axes.text(
                side, 0.985, word, transform=axes.get_xaxis_transform(), ha=align, color=FAINT
            )
    every = max(1, -(-len(distances) // 9))
    shown = [distance for distance in distances if distance % every == 0]
    axes.set_xticks(shown, [_distance_label(d, years) for d in shown])
    unit = "periods (years)" if years else "periods"
    axes.set_xlabel(f"{unit} between learning and testing")
    percent_axis(axes, score)
    # Names stand on the left: on the right all methods meet in the one model that is so old.
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    open_left(axes)
    starts = {line.label: (float(line.distances[0]), 100 * line.mean[0]) for line in curves}
    label_ends(axes, starts, palette, side="left")
    return figure


def _distance_label(distance: int, years: Mapping[int, float] | None) -> str:
    text = f"{distance:+d}" if distance else "0"
    text = text.replace("-", "\N{MINUS SIGN}")
    return f"{text}\n({abs(years[distance]):.1f})" if years and distance else text


@styled
def class_decay_bars(rates: Mapping[str, Measure]) -> Figure:
    """Draw what each class loses per period, with a dot for every seed.

    Parameters
    ----------
    rates
        What `onward.report.decay.class_decay` returned; the first is drawn at the top.
    """
    figure, axes = canvas(4.8, 0.9 + 0.31 * max(len(rates), 1))
    rows = np.arange(len(rates))
    axes.barh(rows, [100 * rate.mean for rate in rates.values()], 0.62, color=BAR)
    for row, rate in zip(rows, rates.values(), strict=True):
        seeds = 100 * np.array(rate.values)
        axes.plot(seeds, np.full(len(seeds), row), "o", ms=3.5, color=DOT, alpha=0.65, mew=0)
    axes.axvline(0, color=FAINT, lw=0.8)
    axes.set_yticks(rows, [short(name) for name in rates])
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=9.5)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(rates) - 0.4, -0.6)
    ruled(axes, "x")
    axes.set_xlabel("points lost per period between learning and testing")
    return figure
