"""The picture of CLAD-C's stream: which classes and which domains appear when."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from onward.data.clad_sets import DAYS_AND_NIGHTS
from onward.data.soda_words import CATEGORIES, CITIES, LOCATIONS, PERIODS, WEATHERS
from onward.report.style import COLOURS, FAINT, INK, RULE, styled

_ROWS: tuple[tuple[str, Sequence[str]], ...] = (
    ("period", tuple(PERIODS.values())),
    ("city", tuple(CITIES.values())),
    ("weather", tuple(WEATHERS.values())),
    ("location", tuple(LOCATIONS.values())),
    ("label", tuple(CATEGORIES.values())),
)


@styled
def stream_picture(objects: pa.Table, bins: int = 75) -> Figure:
    """Draw the training stream of CLAD-C from left to right, and what is in each part of it.

    Of domains, a bar's height is the share of objects; of classes, the number in proportion to the
    class's own highest, which is written beside it.

    Parameters
    ----------
    objects
        What `onward.data.clad_sets.clad_c` returned.
    bins
        Into how many parts of equally many objects the stream is cut.

    References
    ----------
    CLAD, Figure 2.
    """
    train = objects.filter(pc.equal(objects.column("set"), "train"))
    part = np.arange(len(train)) * bins // max(len(train), 1)
    size = np.maximum(np.bincount(part, minlength=bins), 1)
    lanes = [(kind, value) for kind, values in _ROWS for value in values]
    figure = Figure(figsize=(9.5, 0.36 * len(lanes) + 1.0), layout="constrained")
    axes = figure.subplots(len(lanes), 1, sharex=True)
    numbers = train.column("number").to_numpy()
    starts = [int(np.searchsorted(numbers, n)) * bins / len(train) for n in range(6)]
    kinds = [kind for kind, _ in _ROWS]
    for axis, (kind, value) in zip(axes, lanes, strict=True):
        here = np.asarray(train.column(kind).to_pylist()) == value
        count = np.bincount(part[here], minlength=bins)
        height = count / (max(count.max(), 1) if kind == "label" else size)
        axis.bar(np.arange(bins) + 0.5, height, width=1.0, color=COLOURS[kinds.index(kind)])
        axis.set(ylim=(0, 1.08), xlim=(0, bins), yticks=[], xticks=[])
        for side in ("left", "top", "right"):
            axis.spines[side].set_visible(False)
        axis.spines["bottom"].set_color(RULE)
        for start in starts[1:]:
            axis.axvline(start, color=FAINT, linewidth=0.8, linestyle=(0, (2, 2)))
        axis.set_ylabel(value, rotation=0, ha="right", va="center", color=INK)
        if kind == "label":
            axis.text(1.005, 0.4, f"{count.max()}", transform=axis.transAxes, color=FAINT)
    for start, (day, period) in zip(starts, DAYS_AND_NIGHTS, strict=True):
        text = f"{day:%d %b}\n{'day' if period == 'Daytime' else 'night'}"
        axes[0].text(start + 0.3, 1.15, text, color=INK, fontsize=8.5)
    axes[-1].set_xlabel(f"{len(train):,} objects in order, {bins} parts of equally many")
    return figure
