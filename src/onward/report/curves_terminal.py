"""Training curves for the terminal: a small chart per metric, in braille dots."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from onward.report.training_curves import TrainingCurve, TrainingCurves

_HEIGHT = 7
_WIDEST = 76
_LABEL = 8
_GAP = 3
# The bits of a braille character by row and column of its dots.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class CurvesChart:
    """The curves of one run; two charts stand side by side where there is room for them."""

    def __init__(self, title: str, found: TrainingCurves, periods: Sequence[str]) -> None:
        self._title, self._found, self._periods = title, found, periods

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as wide as there is room for."""
        yield Text(self._title, style="bold")
        columns = 2 if options.max_width >= 80 else 1
        width = min((options.max_width - (columns - 1) * _GAP) // columns, _WIDEST)
        dots = options.encoding.startswith("utf")
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for _ in range(columns):
            grid.add_column(width=width, no_wrap=True)
        charts = [
            Text("\n").join(chart_lines(name, curve, self._found, self._periods, width, dots=dots))
            for name, curve in self._found.curves.items()
        ]
        for start in range(0, len(charts), columns):
            grid.add_row(*charts[start : start + columns])
            grid.add_row()
        yield grid


def chart_lines(
    name: str,
    curve: TrainingCurve,
    found: TrainingCurves,
    periods: Sequence[str],
    width: int,
    *,
    dots: bool = True,
) -> Iterator[Text]:
    """Yield the lines of a chart of one metric over steps, with the beginnings of periods.

    Without `dots`, as on a terminal that shows plain letters only, a point is a star.
    """
    across = width - _LABEL - 1
    values, marks = _columns(curve, found, across * (2 if dots else 1), across)
    finite = values[np.isfinite(values)]
    of = "per step" if curve.kind == "step" else "mean per epoch"
    yield Text.assemble((name, "bold"), (f"  {of}", "dim"))
    if not finite.size:
        yield Text("no finite value", style="dim")
        return
    low, high = float(finite.min()), float(finite.max())
    cells = _cells(values, low, high, dots=dots)
    side = {0: _short(high), _HEIGHT - 1: _short(low)}
    axis, mark = ("┤", "┊") if dots else ("|", ":")
    for row in range(_HEIGHT):
        line = Text(f"{side.get(row, ''):>{_LABEL}}", style="dim").append(axis, style="dim")
        for column in range(across):
            if cells[row][column] != " ":
                line.append(cells[row][column], style="cyan")
            else:
                line.append(mark if column in marks and column else " ", style="dim")
        yield line
    yield Text(" " * (_LABEL + 1) + _names(marks, periods, across), style="dim")


def _columns(
    curve: TrainingCurve, found: TrainingCurves, count: int, across: int
) -> tuple[NDArray[np.float64], dict[int, int]]:
    """Return the mean of each column of dots, joined by lines, and where periods begin."""
    first = min(found.first_steps.values())
    span = max(int(curve.steps.max()) - first, 1)
    at = np.clip((curve.steps - first) * (count - 1) // span, 0, count - 1)
    there = np.isfinite(curve.values)
    total = np.bincount(at[there], curve.values[there], count)
    number = np.bincount(at[there], minlength=count)
    filled = np.flatnonzero(number)
    values = np.full(count, np.nan)
    if filled.size:
        inside = np.arange(filled[0], filled[-1] + 1)
        values[inside] = np.interp(inside, filled, total[filled] / number[filled])
    starts = {p: (step - first) * (across - 1) // span for p, step in found.first_steps.items()}
    return values, {min(column, across - 1): period for period, column in starts.items()}


def _cells(values: NDArray[np.float64], low: float, high: float, *, dots: bool) -> list[list[str]]:
    """Return the characters of a line through the values, by row and column."""
    tall, wide = (4, 2) if dots else (1, 1)
    rows = _HEIGHT * tall
    share = (values - low) / (high - low) if high > low else np.where(np.isnan(values), values, 0.5)
    bits = np.zeros((_HEIGHT, -(-len(values) // wide)), np.int64)
    before: int | None = None
    for column, value in enumerate(share):
        if np.isnan(value):
            before = None
            continue
        row = round((1 - value) * (rows - 1))
        # From the row before to this one, without a gap.
        upto = row if before is None else before + (row > before) - (row < before)
        for dot in range(min(row, upto), max(row, upto) + 1):
            bits[dot // tall, column // wide] |= _DOTS[dot % 4][column % 2] if dots else 1
        before = row
    return [
        [(chr(0x2800 + bit) if dots else "*") if bit else " " for bit in line]
        for line in bits.tolist()
    ]


def _names(marks: dict[int, int], periods: Sequence[str], across: int) -> str:
    """Return the names of periods below the columns that they begin at, as far as they fit."""
    line = ""
    for column, period in sorted(marks.items()):
        name = periods[period]
        if (not line or column > len(line)) and column + len(name) <= across:
            line = line.ljust(column) + name
    return line


def _short(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
