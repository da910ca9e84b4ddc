"""The look that all figures share, and the forms that a figure leaves in."""

import io
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Literal, ParamSpec

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from onward.report.fields import without_controls

_P = ParamSpec("_P")

INK, FAINT, RULE, EMPTY = "#1f2328", "#667078", "#e3e6e8", "#f1f2f3"
# Okabe and Ito's colours, without the yellow that vanishes on white, and three of Tol's: told apart
# by all eyes.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#882255",
    "#999933",
    "#44AA99",
)
BAR, DOT = "#9ecae1", "#08519c"
MAP = "viridis"
AS_DRAWN = "as-drawn"
"""The ``gid`` of text on a coloured cell: a page with dark paper leaves its colour alone."""

_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 9.5,
    "text.color": INK,
    # Names come from anybody's file: a dollar sign in one is a dollar sign.
    "text.parse_math": False,
    "text.usetex": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "hatch.linewidth": 0.5,
    # Text stays text: outlines of every digit would make the page three times as large. Places
    # are computed for DejaVu Sans, the widest common sans-serif: with any other font it fits too.
    "svg.fonttype": "none",
    "svg.hashsalt": "onward",
}


def styled(draw: Callable[_P, Figure]) -> Callable[_P, Figure]:
    """Give what a function draws the look of all figures."""

    @wraps(draw)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> Figure:
        with mpl.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of so many inches with one panel, and that."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def panels(
    count: int, most: int, size: Callable[[int, int], tuple[float, float]], **shared: Any
) -> tuple[Figure, Any]:
    """Return a figure with so many panels, and the grid of their axes; what is left over is blank.

    Parameters
    ----------
    count
        How many panels there are.
    most
        How many of them stand side by side.
    size
        Says how many inches so many columns and rows of them take.
    shared
        What ``subplots`` is asked for.
    """
    columns = min(most, count)
    rows = -(-count // columns)
    figure = Figure(figsize=size(columns, rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **shared)
    for axes in grid.ravel()[count:]:
        axes.set_axis_off()
    return figure, grid


def colours(labels: Iterable[str]) -> dict[str, str]:
    """Give each method its colour, the same in every figure."""
    return {label: COLOURS[at % len(COLOURS)] for at, label in enumerate(sorted(set(labels)))}


def ink_on(colour: ArrayLike) -> str:
    """Return the ink that is read on a colour, given its shares of red, green and blue."""
    return "#ffffff" if np.dot(np.asarray(colour)[:3], (0.299, 0.587, 0.114)) < 0.55 else INK


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text: the same bytes for the same figure."""
    sink = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box: good enough for a name in a figure.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        settle(figure)
        figure.savefig(sink, format="svg", metadata=nothing)
    # Names come from anybody's file, and XML has no place for a control character.
    return without_controls(sink.getvalue())


def to_png(figure: Figure, dpi: int = 200) -> bytes:
    """Return a figure as a PNG, for slides and for pages that show no SVG."""
    sink = io.BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        settle(figure)
        figure.savefig(sink, format="png", dpi=dpi, metadata={"Software": None})
    return sink.getvalue()


def settle(figure: Figure) -> None:
    """Lay a figure out once, without drawing it: saving would do both twice, for half of its time.

    What is drawn afterwards does not move the axes any more.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def percent_axis(axes: Axes, label: str) -> None:
    """Let an axis count upwards in percent."""
    axes.yaxis.set_major_formatter("{x:g} %")
    axes.set_ylabel(label)
    ruled(axes)


def ruled(axes: Axes, axis: Literal["x", "y", "both"] = "y") -> None:
    """Draw faint lines below what is shown."""
    axes.grid(axis=axis, color=RULE, lw=0.8)
    axes.set_axisbelow(True)


def open_left(axes: Axes) -> None:
    """Let the lines of `ruled` stand for the axis on the left."""
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def line_of(
    axes: Axes,
    label: str,
    places: Any,
    values: Any,
    colour: str,
    band: tuple[Any, Any] | None = None,
    alpha: float = 0.1,
) -> None:
    """Draw a named line with a dot at each value, and a band around it."""
    if band is not None:
        axes.fill_between(places, *band, color=colour, alpha=alpha, lw=0, gid=label)
    axes.plot(places, values, color=colour, lw=2, marker="o", ms=4, gid=label)
