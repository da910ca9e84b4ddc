"""The picture of a drive: how well each class and each domain is known, test after test."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.data.soda_words import CATEGORIES, CITIES, LOCATIONS, PERIODS, WEATHERS
from onward.report.figures import COLOURS, FAINT, INK, RULE, styled
from onward.report.labels import spread_apart
from onward.report.summary import TEST
from onward.results import predictions
from onward.results.record import RunRecord
from onward.types import Array

# The panels: what an object's column is called, what is written above, and its values.
_PANELS: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("label", "by class", tuple(CATEGORIES.values())),
    ("period", "by light", tuple(PERIODS.values())),
    ("weather", "by weather", tuple(WEATHERS.values())),
    ("location", "by road", tuple(LOCATIONS.values())),
    ("city", "by city", tuple(CITIES.values())),
)
_NIGHT = "#eceef2"
# How far apart names stand at least, in percent.
_GAP = 7.0
# How close a name comes to the edge of its frame.
_EDGE = 2.5


# Of one run, after each period: which objects were tested, and whether each was named rightly.
_Answers = list[tuple[int, Array, Array]]


def accuracy_by(records: Sequence[RunRecord], objects: pa.Table, column: str) -> dict[str, Array]:
    """Return the share of right answers, by value of a column, after each period, as a mean.

    Parameters
    ----------
    records
        Runs of one method, which kept their predictions.
    objects
        What was tested, and perhaps more: `id` and the column.
    column
        Such as ``weather``.
    """
    periods = len(records[0].spec.periods)
    return _by([_answers(record) for record in records], objects, column, periods)


def _answers(record: RunRecord) -> _Answers:
    found = []
    for learned_upto, (table, _) in record.decisions.items():
        tested = table.filter(pa.array(_names(table, "test") == TEST))
        target, decision = predictions.judged(tested)
        found.append((learned_upto, _names(tested, "id"), decision == target))
    return found


def _by(runs: Sequence[_Answers], objects: pa.Table, column: str, periods: int) -> dict[str, Array]:
    values = dict(
        zip(objects.column("id").to_pylist(), objects.column(column).to_pylist(), strict=True)
    )
    found: dict[str, list[Array]] = {}
    for answers in runs:
        over_time: dict[str, Array] = {}
        for learned_upto, names, right in answers:
            of = np.array([values[name] for name in names])
            for value in np.unique(of).tolist():
                line = over_time.setdefault(value, np.full(periods, np.nan))
                line[learned_upto] = right[of == value].mean()
        for value, line in over_time.items():
            found.setdefault(value, []).append(line)
    return {value: np.mean(lines, axis=0) for value, lines in found.items()}


@styled
def drive_picture(records: Sequence[RunRecord], objects: pa.Table, title: str) -> Figure:
    """Draw how many objects are named rightly after each day and night, by class and by domain.

    Parameters
    ----------
    records
        Runs of one method, which kept their predictions.
    objects
        The table of the benchmark.
    title
        What is written above all of it.

    References
    ----------
    CLAD, Figure 3.
    """
    figure = Figure(figsize=(16.5, 4.4), layout="constrained")
    widths = [1.25, *[1.0] * (len(_PANELS) - 1)]
    panels = figure.subplots(1, len(_PANELS), sharey=True, width_ratios=widths)
    periods = records[0].spec.periods
    runs = [_answers(record) for record in records]
    for axes, (column, heading, order) in zip(panels, _PANELS, strict=True):
        lines = _by(runs, objects, column, len(periods))
        _panel(axes, {value: lines[value] for value in order if value in lines}, periods)
        axes.set_title(heading, loc="left", fontsize=11, fontweight="bold")
    panels[0].set_ylabel("right answers on the test, %", color=FAINT, fontsize=10)
    mean = f"mean of {len(records)} run{'' if len(records) == 1 else 's'}"
    figure.suptitle(f"{title} · {mean}; nights are shaded", x=0.01, ha="left", color=FAINT)
    return figure


def _panel(axes: Axes, lines: Mapping[str, Array], periods: Sequence[str]) -> None:
    last = len(periods) - 1
    for at, name in enumerate(periods):
        if name.endswith("night"):
            axes.axvspan(at - 0.5, at + 0.5, color=_NIGHT, lw=0, zorder=0)
    ends = {}
    for colour, (value, line) in zip(COLOURS, lines.items(), strict=False):
        known = np.flatnonzero(~np.isnan(line))
        axes.plot(known, 100 * line[known], color=colour, lw=2.2, marker="o", ms=4.5, zorder=3)
        ends[value] = (100 * float(line[known[-1]]), colour)
    named = sorted(ends.items(), key=lambda item: item[1][0])
    heights = spread_apart([height for _, (height, _) in named], _GAP)
    for at, ((value, (height, colour)), place) in enumerate(zip(named, heights, strict=True)):
        # Inside the frame, with room for the names below and above.
        place = max(place, _EDGE + _GAP * at)
        place = min(place, 100 - _EDGE - _GAP * (len(named) - 1 - at))
        axes.plot([last, last + 0.35], [height, place], color=colour, lw=0.8, clip_on=False)
        axes.text(last + 0.45, place, value, color=colour, va="center", fontweight="bold")
    axes.set(xlim=(-0.5, last + 0.5), ylim=(0, 100))
    axes.set_xticks(range(len(periods)), [name.replace(" ", "\n") for name in periods])
    axes.tick_params(axis="x", length=0, labelsize=7, labelcolor=INK)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=RULE, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _names(table: pa.Table, column: str) -> Array:
    return np.asarray(table.column(column).to_numpy(zero_copy_only=False))
