"""The pictures of an outcome with boxes: domains with their spread, classes, and frames."""

import numpy as np
from matplotlib.figure import Figure

from onward.report.boxes_picture import Shown, boxes_picture
from onward.report.pictures.class_precision import class_curves
from onward.report.pictures.domain_matrices import Runs, domain_matrices
from onward.reproduce.engine import Outcome
from onward.results import predictions
from onward.sweep import benchmark_of
from onward.types import Array

# The share of a frame that a box takes up for people to see what is in it.
_SEEN = 0.01


def box_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Return pictures with their file names, by title."""
    runs: Runs = {row.label: records for row, records in outcome.runs()}
    if not runs:
        return {}
    found = {"Domain after domain": ("domains.png", domain_matrices(runs))}
    kept: Runs = {label: some for label, some in runs.items() if some[0].decisions}
    if kept:
        found["Classes, domain after domain"] = ("classes.png", class_curves(kept))
        found["What is found in the end"] = ("frames.png", _frames(outcome, kept))
    return found


def _frames(outcome: Outcome, runs: Runs) -> Figure:
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
