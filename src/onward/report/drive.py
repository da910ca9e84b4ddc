"""The picture of a drive: how well each class and each domain is known, test after test."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.data.soda_words import CATEGORIES, CITIES, LOCATIONS, PERIODS, WEATHERS
from onward.report.labels import spread_apart
from onward.report.style import COLOURS, FAINT, INK, open_left, panels, ruled, styled
from onward.report.summary import TEST
from onward.results import predictions
from onward.results.record import RunRecord
from onward.types import Array

# The panels: what an object's column is called, what is written above, and its values. Classes are
# what the test asks for; all others stand in the stream's card.
_CLASS = "label"
_PANELS: tuple[tuple[str, str, Sequence[str]], ...] = (
    (_CLASS, "by class", tuple(CATEGORIES.values())),
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


class _Answered(NamedTuple):
    """After one period of one run: which objects were tested, their class, whether named so."""

    learned_upto: int
    ids: Array
    classes: Array
    right: Array


def _answers(record: RunRecord) -> list[_Answered]:
    found = []
    for learned_upto, (table, classes) in record.decisions.items():
        tested = table.filter(pa.array(_names(table, "test") == TEST))
        target, decision = predictions.judged(tested)
        classed = np.array(classes)[target]
        found.append(_Answered(learned_upto, _names(tested, "id"), classed, decision == target))
    return found


def _by(
    runs: Sequence[Sequence[_Answered]], objects: pa.Table | None, column: str, periods: int
) -> dict[str, Array]:
    """Return the share of right answers, by value of a column, after each period, as a mean."""
    values: dict[str, str] = {}
    if objects is not None and column != _CLASS:
        pairs = zip(*(objects.column(name).to_pylist() for name in ("id", column)), strict=True)
        values = dict(pairs)
    found: dict[str, list[Array]] = {}
    for answers in runs:
        over_time: dict[str, Array] = {}
        for each in answers:
            of = each.classes
            if column != _CLASS:
                of = np.array([str(values.get(name)) for name in each.ids])
            for value in np.unique(of).tolist():
                line = over_time.setdefault(value, np.full(periods, np.nan))
                line[each.learned_upto] = each.right[of == value].mean()
        for value, line in over_time.items():
            found.setdefault(value, []).append(line)
    return {value: np.mean(lines, axis=0) for value, lines in found.items()}


def panels_of(
    records: Sequence[RunRecord], objects: pa.Table | None
) -> dict[str, dict[str, Array]]:
    """Return the lines of each panel by its heading, those of classes first.

    A line is the share of right answers after each period, as a mean over runs.

    Parameters
    ----------
    records
        Runs of one method, which kept their predictions.
    objects
        What tells tested objects apart, by ``id``; without it classes are all there is.
    """
    periods = len(records[0].spec.periods)
    runs = [_answers(record) for record in records]
    there = {_CLASS, *(() if objects is None else objects.column_names)}
    found = {}
    for column, heading, order in _PANELS:
        if column in there:
            lines = _by(runs, objects, column, periods)
            # On other data, classes and domains may have other names.
            known = [value for value in order if value in lines] or sorted(lines)
            found[heading] = {value: lines[value] for value in known}
    return found


@styled
def drive_picture(
    known: Mapping[str, Mapping[str, Array]], periods: Sequence[str], title: str, columns: int = 5
) -> Figure:
    """Draw how many objects are named rightly after each day and night, by class and by domain.

    Parameters
    ----------
    known
        What `panels_of` returned.
    periods
        What they are called; those that end in "night" are shaded.
    title
        What is written above all of it.
    columns
        How many panels stand side by side.

    References
    ----------
    CLAD, Figure 3.
    """
    figure, grid = panels(
        len(known), columns, lambda wide, high: (3.3 * wide, 3.9 * high + 0.5), sharey=True
    )
    for axes, (heading, lines) in zip(grid.ravel(), known.items(), strict=False):
        _panel(axes, lines, periods)
        axes.set_title(heading, loc="left", fontsize=11, fontweight="bold")
    for axes in grid[:, 0]:
        axes.set_ylabel("right answers on the test, %", color=FAINT, fontsize=10)
    figure.suptitle(title, x=0.01, ha="left", color=FAINT)
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
    ruled(axes)
    open_left(axes)


def _names(table: pa.Table, column: str) -> Array:
    return np.asarray(table.column(column).to_numpy(zero_copy_only=False))
