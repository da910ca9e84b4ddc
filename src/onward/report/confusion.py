"""Which labels are said for samples of each label: what is forgotten, and what is mixed up."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from onward.metrics.iirc_levels import confusion
from onward.report.answers import Answers, answers
from onward.report.labels import short
from onward.report.numbers import evenly
from onward.report.style import FAINT, MAP, panels, styled
from onward.results.record import RunRecord

_TRUTH = "as it is"
_MOMENTS = 4


def moments(record: RunRecord) -> list[int]:
    """Return the first period, the last one and some between."""
    tested = sorted(record.decisions)
    return [tested[place] for place in evenly(len(tested), _MOMENTS)]


@styled
def confusion_over_time(record: RunRecord, label: str) -> Figure:
    """Draw what one run answers as classes arrive, below what would have been right.

    Rows are true labels, columns are labels that were said, both in the order in which they came.
    A model that forgets empties the columns on the left; one that answers with everything it knows
    fills the rows.
    """
    shown = moments(record)
    figure = Figure(figsize=(3.1 * len(shown) + 0.9, 6.6), layout="constrained")
    grid = figure.subplots(2, len(shown), squeeze=False)
    image = None
    for column, period in enumerate(shown):
        seen = answers(record, period)
        for axes, said in ((grid[0, column], seen.true), (grid[1, column], seen.said)):
            image = _panel(axes, said, seen, names=column == len(shown) - 1)
        grid[0, column].set_title(
            f"after {record.spec.periods[period]}", loc="left", fontsize=10, fontweight="bold"
        )
    for axes, words in zip(grid[:, 0], (_TRUTH, label), strict=True):
        axes.set_ylabel(f"{words}\ntrue label", fontsize=9)
    for axes in grid[1]:
        axes.set_xlabel("label said", fontsize=8)
    _scale(figure, image, grid)
    return figure


@styled
def confusion_of_methods(records: Mapping[str, RunRecord], side: float = 3.1) -> Figure:
    """Draw what several runs of one stream answer in the end, beside what would have been right.

    Parameters
    ----------
    records
        A run of each method, by its label.
    side
        Of a panel, in inches.
    """
    first = next(iter(records.values()))
    last = max(first.decisions)
    shown: list[tuple[str, Answers, Any]] = [
        (label, seen, seen.said)
        for label, seen in ((label, answers(run, last)) for label, run in records.items())
    ]
    shown.insert(0, (_TRUTH, shown[0][1], shown[0][1].true))
    figure, grid = panels(
        len(shown), 4, lambda wide, high: (side * wide + 0.9, (side + 0.2) * high + 0.5)
    )
    image = None
    for axes, (label, seen, said) in zip(grid.ravel(), shown, strict=False):
        image = _panel(axes, said, seen, names=axes in grid[:, -1])
        axes.set_title(short(label), loc="left", fontsize=10, fontweight="bold")
    for axes in grid[:, 0]:
        axes.set_ylabel("true label", fontsize=8)
    _scale(figure, image, grid)
    return figure


def _panel(axes: Axes, said: Any, seen: Answers, *, names: bool) -> AxesImage:
    shares = confusion(said, seen.true)
    image = axes.imshow(
        np.ma.masked_invalid(shares), cmap=MAP, vmin=0, vmax=1, interpolation="nearest"
    )
    size = len(seen.names)
    axes.set_xticks([])
    axes.set_yticks([])
    if names and size <= 40:
        axes.yaxis.tick_right()
        bold = ["bold" if top else "normal" for top in seen.superclass]
        axes.set_yticks(range(size), seen.names, fontsize=min(7.5, 170 / size))
        for text, weight in zip(axes.get_yticklabels(), bold, strict=True):
            text.set_fontweight(weight)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def _scale(figure: Figure, image: AxesImage | None, grid: Any) -> None:
    if image is None:
        return
    bar = figure.colorbar(image, ax=grid, location="bottom", shrink=0.35, aspect=35, pad=0.03)
    bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
    bar.set_label("share of the samples of a label", fontsize=8, color=FAINT)
    bar.outline.set_visible(False)
