"""The pictures of an outcome with boxes: domains with their spread, classes, and frames."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.boxes_picture import Shown, boxes_picture
from onward.report.figures import COLOURS, FAINT, INK, MAP, RULE, styled
from onward.reproduce.engine import Outcome
from onward.results import predictions
from onward.results.record import RunRecord
from onward.sweep import benchmark_of
from onward.types import Array

# The share of a frame that a box takes up for people to see what is in it.
_SEEN = 0.01
# Methods by label, each with its runs.
_Runs = dict[str, Sequence[RunRecord]]


def box_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Return pictures with their file names, by title."""
    runs: _Runs = {row.label: records for row, records in outcome.runs()}
    if not runs:
        return {}
    found = {"Domain after domain": ("domains.png", domain_matrices(runs))}
    kept: _Runs = {label: some for label, some in runs.items() if some[0].decisions}
    if kept:
        found["Classes, domain after domain"] = ("classes.png", class_curves(kept))
        found["What is found in the end"] = ("frames.png", _frames(outcome, kept))
    return found


@styled
def domain_matrices(runs: _Runs) -> Figure:
    """Draw for each method the score on each domain after each, with its spread over seeds."""
    columns = min(4, len(runs))
    rows = -(-len(runs) // columns)
    figure = Figure(figsize=(2.9 * columns + 0.2, 2.75 * rows + 0.3), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    values = {label: 100 * np.stack([run.matrix() for run in some]) for label, some in runs.items()}
    most = max(float(np.nanmax(matrices)) for matrices in values.values())
    for axes, (label, matrices) in zip(panels, values.items(), strict=False):
        _matrix(axes, matrices, runs[label][0].spec.periods, most)
        seeds = f"{len(matrices)} seed{'s' * (len(matrices) > 1)}"
        axes.set_title(label, loc="left", fontsize=10.5, fontweight="bold")
        axes.set_title(seeds, loc="right", fontsize=8, color=FAINT)
    for axes in panels[len(values) :]:
        axes.set_axis_off()
    figure.supxlabel("tested on; mAP at an overlap of 0.5, percent, ± deviation", fontsize=8.5)
    figure.supylabel("after learning", fontsize=8.5)
    return figure


def _matrix(axes: Axes, matrices: Array, periods: Sequence[str], most: float) -> None:
    mean = matrices.mean(0)
    spread = matrices.std(0, ddof=1) if len(matrices) > 1 else np.full(mean.shape, np.nan)
    axes.imshow(np.ma.masked_invalid(mean), cmap=MAP, vmin=0, vmax=most)
    for (i, j), value in np.ndenumerate(mean):
        if np.isnan(value):
            continue
        colour = "white" if value < 0.6 * most else INK
        axes.text(j, i - 0.1, f"{value:.0f}", ha="center", va="center", fontsize=11, color=colour)
        if np.isfinite(spread[i, j]):
            text = f"±{spread[i, j]:.0f}"
            axes.text(j, i + 0.28, text, ha="center", va="center", fontsize=7.5, color=colour)
    axes.set_xticks(range(len(periods)), periods)
    axes.set_yticks(range(len(periods)), periods)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@styled
def class_curves(runs: _Runs) -> Figure:
    """Draw the average precision of each class, mean over domains, after each domain."""
    found = {label: [run.class_matrix() for run in some] for label, some in runs.items()}
    classes = next(iter(found.values()))[0][1]
    figure = Figure(figsize=(10.5, 5.4), layout="constrained")
    panels = figure.subplots(2, -(-len(classes) // 2), sharex=True, sharey=True).ravel()
    periods = next(iter(runs.values()))[0].spec.periods
    places = np.arange(len(periods))
    for number, (axes, name) in enumerate(zip(panels, classes, strict=False)):
        for at, (label, matrices) in enumerate(found.items()):
            of_class = np.stack([matrix[:, :, number] for matrix, _ in matrices])
            known = np.isfinite(of_class).any(2).all(0)
            # A class that a domain has no object of has no precision there.
            mean = 100 * np.nanmean(of_class[:, known], axis=2).mean(0)
            style = {"color": COLOURS[at % len(COLOURS)], "marker": "o", "ms": 4, "lw": 1.8}
            axes.plot(places[known], mean, label=label, **style)
        axes.set_title(name, loc="left", fontweight="bold")
        axes.grid(axis="y", color=RULE, lw=0.8)
        axes.set_axisbelow(True)
        axes.set_xticks(places, periods)
        axes.set_ylim(0, 100)
    figure.supylabel("average precision, mean over domains, %", fontsize=9, color=FAINT)
    figure.supxlabel("after learning", fontsize=9, color=FAINT)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def _frames(outcome: Outcome, runs: _Runs) -> Figure:
    """Draw a busy frame of each domain's test, as it is and as each method sees it in the end."""
    (first, *_) = outcome.plan.planned
    table = benchmark_of(first.run.source).raw
    row_of = {str(name): row for row, name in enumerate(table.values("id"))}
    (record, *_) = next(iter(runs.values()))
    last, classes = record.decisions[max(record.decisions)]
    tested, ids = last.column("tested_on").to_numpy(), last.column("id").to_pylist()
    targets, _ = predictions.judged(last)
    least = _SEEN * np.prod(table.wide["image"].shape[1:3])
    periods = range(len(record.spec.periods))
    chosen = [_busiest(targets, tested == place, float(least)) for place in periods]
    images = [table.wide["image"][np.array([row_of[ids[place]]])][0] for place in chosen]
    rows = {"true": [Shown(i, targets[p]) for i, p in zip(images, chosen, strict=True)]}
    for label, some in runs.items():
        said = some[0].decisions[max(some[0].decisions)][0]
        places = {name: place for place, name in enumerate(said.column("id").to_pylist())}
        true, found = predictions.judged(said)
        at = [places[ids[place]] for place in chosen]
        rows[label] = [Shown(i, true[p], found[p]) for i, p in zip(images, at, strict=True)]
    return boxes_picture(rows, record.spec.periods, classes)


def _busiest(targets: Array, here: Array, least: float) -> int:
    """Return the place of the frame with the most classes, then boxes, that are large enough."""
    areas = (targets[..., 3] - targets[..., 1]) * (targets[..., 4] - targets[..., 2])
    large = (targets[..., 0] >= 0) & (areas >= least)
    classes = [len(set(rows[some, 0])) for rows, some in zip(targets, large, strict=True)]
    order = np.lexsort((large.sum(1), classes))
    return int(order[here[order]][-1])
