"""Frames with the boxes that are there and those that were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from onward.report.style import COLOURS, FAINT, INK, styled
from onward.types import Array

# What is shown of what was found.
_SURE = 0.5
_WIDE = 3.1


@dataclass(frozen=True, eq=False)
class Shown:
    """One image and boxes on it.

    Parameters
    ----------
    image
        Bytes (height, width, 3).
    true
        Rows of class, corners and crowd, as the task kind ``boxes`` has them.
    found
        Rows of class, score and corners; None shows the true boxes instead.
    """

    image: Array
    true: Array
    found: Array | None = None


@styled
def boxes_picture(
    rows: Mapping[str, Sequence[Shown]], columns: Sequence[str], classes: Sequence[str]
) -> Figure:
    """Draw images with boxes: what was found in colour, what is there in thin white below it.

    Boxes of a score below one half are left out.

    Parameters
    ----------
    rows
        By what stands beside a row, its images: one for each column.
    columns
        What stands above each column.
    classes
        What boxes are of.
    """
    height, width = next(iter(rows.values()))[0].image.shape[:2]
    size = (_WIDE * len(columns) + 0.5, _WIDE * height / width * len(rows) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for (name, images), across in zip(rows.items(), grid, strict=True):
        across[0].set_ylabel(name, color=INK, fontsize=11, fontweight="bold")
        for axes, shown in zip(across, images, strict=True):
            _frame(axes, shown, classes)
    for name, axes in zip(columns, grid[0], strict=True):
        axes.set_title(name, loc="left", fontsize=11, fontweight="bold")
    colours = [
        Rectangle((0, 0), 1, 1, fill=False, edgecolor=_colour(number), linewidth=2.2)
        for number in range(len(classes))
    ]
    figure.legend(
        colours,
        classes,
        loc="outside lower center",
        ncols=len(classes),
        frameon=False,
        labelcolor=FAINT,
    )
    return figure


def _frame(axes: Axes, shown: Shown, classes: Sequence[str]) -> None:
    axes.imshow(shown.image, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    true = shown.true[shown.true[:, 0] >= 0]
    if shown.found is None:
        for row in true:
            _box(axes, row[1:5], _colour(int(row[0])), 1.8)
        return
    for row in true:
        _box(axes, row[1:5], "white", 0.9)
    for row in shown.found[(shown.found[:, 0] >= 0) & (shown.found[:, 1] >= _SURE)][::-1]:
        colour = _colour(int(row[0]))
        _box(axes, row[2:6], colour, 1.8)
        axes.text(
            row[2],
            row[3] - 1.5,
            f"{100 * row[1]:.0f}",
            color="white",
            fontsize=7,
            fontweight="bold",
            path_effects=[patheffects.withStroke(linewidth=1.8, foreground=colour)],
            clip_on=True,
        )


def _box(axes: Axes, corners: Array, colour: str, line: float) -> None:
    left, top, right, bottom = (float(value) - 0.5 for value in corners)
    axes.add_patch(
        Rectangle(
            (left, top), right - left, bottom - top, fill=False, edgecolor=colour, linewidth=line
        )
    )


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
