"""The pictures of an outcome: score matrices of a row, and rows along a parameter."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.figures import (
    COLOURS,
    FAINT,
    percent_axis,
    score_limits,
    score_matrices,
    styled,
)
from onward.reproduce.claims import Cell
from onward.reproduce.curves import Panel
from onward.reproduce.engine import Outcome
from onward.reproduce.table import Row

_Values = Callable[[Cell], tuple[float, float] | None]


def matrices(outcome: Outcome, row: Row) -> Figure:
    """Draw the mean score matrix of a row under each protocol.

    All rows of a table are on one colour scale.
    """
    every = [summary for found in outcome.summaries.values() for summary in found]
    shown = outcome.summaries[row.name]
    figure = score_matrices(shown, score_limits(every), columns=2)
    counts = sorted({len(summary.records) for summary in shown})
    runs = " or ".join(map(str, counts))
    figure.suptitle(
        f"{row.label} · {outcome.plan.data}, {outcome.plan.recipe} recipe, mean of {runs} runs",
        x=0.02,
        ha="left",
        fontsize=10,
        color=FAINT,
    )
    return figure


@styled
def curves(outcome: Outcome) -> Figure:
    """Draw the rows of the table's panels along their parameter: ours above, published below."""
    wanted = outcome.plan.table.curves
    if wanted is None:
        raise ValueError("expected a table with curves, found one without")
    panels = wanted.panels
    figure = Figure(figsize=(4.6 * len(panels), 7.0), layout="constrained")
    grid = figure.subplots(2, len(panels), sharey="row", sharex="col", squeeze=False)
    sides: list[tuple[str, _Values]] = [
        (f"ours: {outcome.plan.data}, {outcome.plan.recipe} recipe", _ours(outcome)),
        ("published", _published(outcome)),
    ]
    for (name, values), across in zip(sides, grid, strict=True):
        for panel, axes in zip(panels, across, strict=True):
            _panel(axes, panel, outcome, values)
        percent_axis(across[0], name)
    for panel, axes in zip(panels, grid[0], strict=True):
        axes.set_title(panel.heading, loc="left", fontsize=11, fontweight="bold")
    for panel, axes in zip(panels, grid[-1], strict=True):
        axes.set_xlabel(panel.axis)
    figure.suptitle(wanted.title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _panel(axes: Axes, panel: Panel, outcome: Outcome, values: _Values) -> None:
    table = outcome.plan.table
    for colour, name in zip(COLOURS, table.curves.columns if table.curves else (), strict=False):
        column = next(column for column in table.columns if column.name == name)
        found = {x: values(Cell(row, name)) for x, row in panel.rows.items()}
        points = [(x, *value) for x, value in found.items() if value is not None]
        if points:
            x, mean, deviation = zip(*points, strict=True)
            axes.errorbar(
                x,
                mean,
                deviation,
                color=colour,
                lw=2,
                elinewidth=1.2,
                capsize=2.5,
                marker="o",
                ms=4.5,
                label=f"{column.heading}, {column.protocol}",
            )
    if panel.logarithmic:
        axes.set_xscale("log")
    axes.set_xticks(list(panel.rows), [f"{x:g}" for x in panel.rows])
    axes.minorticks_off()
    axes.grid(axis="y", color="#e3e6e8", lw=0.8)
    axes.tick_params(colors=FAINT)


def _ours(outcome: Outcome) -> _Values:
    def values(cell: Cell) -> tuple[float, float] | None:
        measure = outcome.ours(cell)
        return None if measure is None else (100 * measure.mean, 100 * measure.deviation)

    return values


def _published(outcome: Outcome) -> _Values:
    def values(cell: Cell) -> tuple[float, float] | None:
        value = outcome.plan.table.published(cell)
        return None if value.mean is None else (value.mean, value.deviation or 0.0)

    return values
