"""The pictures of an outcome: score matrices of a row, rows along a parameter, and a drive."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.metrics.interval import sign_flip_interval
from onward.report.drive import drive_picture, panels_of
from onward.report.figures import score_limits, score_matrices
from onward.report.numbers import several
from onward.report.provenance import stream_card
from onward.report.style import COLOURS, FAINT, ruled, styled
from onward.report.summary import Measure
from onward.reproduce.box_pictures import box_pictures
from onward.reproduce.claims import LEVEL, Cell
from onward.reproduce.engine import Outcome
from onward.reproduce.label_pictures import label_pictures
from onward.reproduce.table import Column, Curves, Panel, Row
from onward.reproduce.words import file_name

_LINE = {"lw": 2, "ms": 4.5}


def matrices(outcome: Outcome, row: Row) -> Figure:
    """Draw the mean score matrix of a row under each protocol.

    All rows of a table are on one colour scale.
    """
    every = [summary for found in outcome.summaries.values() for summary in found]
    shown = outcome.summaries[row.name]
    figure = score_matrices(shown, score_limits(every), columns=2)
    runs = " or ".join(map(str, sorted({len(summary.records) for summary in shown})))
    figure.suptitle(
        # On two lines, so that it fits above a single panel too.
        f"{row.label} · {outcome.plan.data}, {outcome.plan.recipe} recipe\n"
        f"percent, mean of {runs} run{'' if runs == '1' else 's'}",
        x=0.02,
        ha="left",
        fontsize=10,
        color=FAINT,
    )
    return figure


@styled
def curves(outcome: Outcome, wanted: Curves) -> Figure:
    """Draw what rows gain over a reference along a parameter, ours and published.

    Our bars are 95 % intervals of the difference, paired over repetitions: what all rows of a
    repetition have in common does not blur them.
    """
    table = outcome.plan.table
    reference = table.row(wanted.reference)
    columns = [table.column(name) for name in wanted.columns]
    size = (2.7 * len(columns) + 0.3, 2.75 * len(wanted.parameters) + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(
        len(wanted.parameters), len(columns), sharex="row", sharey=True, squeeze=False
    )
    for panel, across in zip(wanted.parameters, grid, strict=True):
        for column, axes in zip(columns, across, strict=True):
            _panel(axes, panel, column, outcome, reference)
            axes.set_xlabel(panel.axis)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"points above {reference.label}")
    for column, axes in zip(columns, grid[0], strict=True):
        axes.set_title(f"{column.heading}, {column.protocol}\n", loc="left", fontweight="bold")
        levels = _levels(column, outcome, reference)
        axes.text(0, 1.04, levels, transform=axes.transAxes, fontsize=8, color=FAINT)
    figure.suptitle(wanted.title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _levels(column: Column, outcome: Outcome, reference: Row) -> str:
    """Say where zero is, for us and for the paper."""
    cell = Cell(reference.name, column.name)
    ours, theirs = outcome.ours(cell), outcome.plan.table.published(cell).mean
    here = "" if ours is None else f"ours {100 * ours.mean:.1f} %, "
    return f"{reference.label}: {here}published {theirs} %"


def _panel(axes: Axes, panel: Panel, column: Column, outcome: Outcome, reference: Row) -> None:
    axes.axhline(0, color=FAINT, lw=0.8)
    rows = panel.rows.items()
    ours = {x: _ours(outcome, row, reference.name, column) for x, row in rows}
    bars = [(x, *gain) for x, gain in ours.items() if gain is not None]
    if bars:
        x, gain, below, above = zip(*bars, strict=True)
        label = f"ours: {outcome.plan.data}, {outcome.plan.recipe} recipe, 95 % interval"
        bar: dict[str, Any] = {"elinewidth": 1.2, "capsize": 2.5, "marker": "o", **_LINE}
        axes.errorbar(x, gain, (below, above), color=COLOURS[0], label=label, **bar)
    published = {x: _published(outcome, row, reference.name, column) for x, row in rows}
    known = {x: gain for x, gain in published.items() if gain is not None}
    style: dict[str, Any] = {"color": COLOURS[1], "marker": "D", **_LINE}
    axes.plot(list(known), list(known.values()), label="published", **style)
    if panel.logarithmic:
        axes.set_xscale("log")
    axes.set_xticks(list(panel.rows), [f"{x:g}" for x in panel.rows])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(_signed)
    ruled(axes)


def _signed(value: float, _: object) -> str:
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}") if value else "0"


# A gain, and how far its bar reaches below and above, all in points.
_Bar = tuple[float, float, float]


def _ours(outcome: Outcome, row: str, reference: str, column: Column) -> _Bar | None:
    scores = outcome.scores.get(Cell(row, column.name), {})
    base = outcome.scores.get(Cell(reference, column.name), {})
    gains = Measure(tuple(100 * (scores[n] - base[n]) for n in scores if n in base))
    if not gains.values:
        return None
    low, high = sign_flip_interval(gains.values, LEVEL)
    if math.isinf(low):
        return gains.mean, 0.0, 0.0
    # Rounding may put an end on the wrong side of the mean where all gains are equal.
    return gains.mean, max(gains.mean - low, 0.0), max(high - gains.mean, 0.0)


def _published(outcome: Outcome, row: str, reference: str, column: Column) -> float | None:
    value = outcome.plan.table.published(Cell(row, column.name)).mean
    base = outcome.plan.table.published(Cell(reference, column.name)).mean
    return None if value is None or base is None else value - base


def _drive_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Draw what each row knows of classes and domains over CLAD's drive."""
    pictures, plan = {}, outcome.plan
    for each in plan.planned:
        (summary,) = outcome.summaries[each.row.name]
        if summary.records[0].decisions:
            records, card = summary.records, stream_card(summary.records)
            runs = f"mean of {several(len(records), 'run')}"
            title = f"{each.row.label} · {plan.data}, {plan.recipe} recipe · {runs}"
            panels = panels_of(records, None if card is None else card.domains())
            pictures[f"{each.row.label}: classes and domains over the drive"] = (
                file_name(each.row.name),
                drive_picture(panels, records[0].spec.periods, f"{title}; nights are shaded"),
            )
    return pictures


PICTURES: Mapping[str, Callable[[Outcome], dict[str, tuple[str, Figure]]]] = {
    "labels": label_pictures,
    "drive": _drive_pictures,
    "boxes": box_pictures,
}
"""What a table may ask for: pictures with the names of their files, by title."""
