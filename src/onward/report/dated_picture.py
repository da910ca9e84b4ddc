"""The picture of several models on dated tests."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from onward.report.labels import label_ends
from onward.report.style import FAINT, canvas, colours, line_of, open_left, percent_axis, styled

if TYPE_CHECKING:
    from onward.evaluation.dated import Course, Dated

_TICKS = 9


@styled
def by_period(
    found: "Dated", courses: Sequence["Course"], cutoffs: Mapping[str, str | None]
) -> Figure:
    """Draw scores by period, a curve for each model; a ring is around its cut-off, where known."""
    figure, axes = canvas(6.2, 3.7)
    palette, ends = colours(found.models), {}
    for course in courses:
        known = np.flatnonzero(np.isfinite(course.scores))
        if not len(known):
            continue
        low, high = (100 * bound[known] for bound in course.bounds())
        colour, name, mean = palette[course.model], course.model, 100 * course.scores[known]
        line_of(axes, name, known, mean, colour, (low, high), alpha=0.12)
        ends[name] = (float(known[-1]), float(mean[-1]))
        learned_upto = cutoffs.get(name)
        if learned_upto in found.periods:
            at = found.periods.index(learned_upto)
            height = 100 * course.scores[at]
            axes.plot([at], [height], "o", ms=11, mfc="none", mec=colour, mew=1.6)
    axes.axvline(found.split - 0.5, color=FAINT, lw=0.8, ls=(0, (3, 3)))
    every = max(1, -(-len(found.periods) // _TICKS))
    shown = list(range(0, len(found.periods), every))
    axes.set_xticks(shown, [found.periods[at] for at in shown])
    percent_axis(axes, "right first answers")
    open_left(axes)
    axes.set_xlabel("tested on")
    label_ends(axes, ends, palette, side="right")
    return figure
