"""Several models on dated tests: tables for the terminal, pictures, and a page."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from onward.report.evaluation import empty_table
from onward.report.numbers import MISSING, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from onward.evaluation.dated import Course, Dated, Estimate

_ALL = "all"
_MOST_PANELS = 12
_TICKS = 9


@dataclass(frozen=True)
class DatedModel:
    """What a model is called here, what it is, and the last period that it learned, if known."""

    label: str
    words: str
    learned_upto: str | None = None


def tables(found: "Dated") -> Iterator[Table]:
    """Yield scores by period for each test, a column for each model, and then all gaps."""
    for (test, about), courses in _groups(found).items():
        if about != _ALL:
            continue
        result = empty_table(f"test {test}, % right", "period")
        for course in courses:
            result.add_column(course.model, justify="right")
        for at, name in enumerate(found.periods):
            result.add_row(name, *(percent(course.scores[at]) for course in courses))
        yield result
    gaps = empty_table(f"old and new, from {found.periods[found.split]} on", "test")
    for heading in ("about", "model"):
        gaps.add_column(heading)
    for heading in ("questions", "old", "new", "gap", "95 % interval"):
        gaps.add_column(heading, justify="right", no_wrap=True)
    for course in found.courses:
        model, *rest = _row(found, course)
        gaps.add_row(*rest[:2], model, *rest[2:])
    yield gaps


def sentences(found: "Dated") -> Iterator[str]:
    """Yield what the first test says: the gap of each model, and how models differ when new."""
    first = found.courses[0]
    new = f"from {found.periods[found.split]} on"
    for course in found.courses:
        if (course.test, course.about) == (first.test, first.about):
            gap = found.gap(course)
            sure = "" if gap.decides else ", which may be none"
            way = "higher" if gap.value < 0 else "lower"
            yield (
                f"{course.model}: {percent(abs(gap.value))} points {way} {new} than before (gap "
                f"{_between(gap)}){sure}"
            )
    for one, other in found.pairs():
        if (one.test, one.about) == (first.test, first.about):
            apart = found.newer(one, other)
            said = "cannot be told from" if not apart.decides else (
                "is better than" if apart.value > 0 else "is worse than")  # fmt: skip
            yield (
                f"{one.model} {said} {other.model} {new}: {_signed(apart.value)} points "
                f"({_between(apart)})"
            )


def write_dated_page(
    found: "Dated", models: Sequence[DatedModel], data: str, notes: Sequence[str], out: Path
) -> None:
    """Write one page: accuracy by period, a curve for each model, and the gaps in numbers."""
    from onward.report.content_figures import Numbers, Plot, Studio
    from onward.report.rendering import write

    studio, cutoffs = Studio(), {one.label: one.learned_upto for one in models}
    numbers = {label: at for at, label in enumerate(sorted(cutoffs))}
    plots = []
    for (test, about), courses in list(_groups(found).items())[:_MOST_PANELS]:
        words = Plot(
            title=_title(test, about),
            caption=_caption(test, about, courses),
            alt=". ".join(
                f"{course.model}: gap {percent(found.gap(course).value)} points"
                for course in courses
            ),
            numbers=Numbers(
                ["model", *found.periods, "gap", "95 % interval"],
                [
                    [course.model, *map(percent, course.scores),
                     percent(found.gap(course).value), _between(found.gap(course))]
                    for course in courses
                ],
            ),
        )  # fmt: skip
        draw = partial(by_period, found, courses, cutoffs)
        plots += studio.show(draw, words, numbers)
    head = ["model", "test", "about", "questions", "old", "new", "gap", "95 % interval"]
    write(
        out,
        "dated.html.j2",
        (),
        title="When did it stop reading the news?",
        data=data,
        split=found.periods[found.split],
        models=models,
        answers=list(sentences(found)),
        figures=plots,
        head=head,
        rows=[_row(found, course) for course in found.courses],
        notes=notes,
    )


def by_period(
    found: "Dated", courses: Sequence["Course"], cutoffs: Mapping[str, str | None]
) -> "Figure":
    """Draw scores by period, a curve for each model; a ring is around its cut-off, where known."""
    from matplotlib.figure import Figure

    from onward.report.labels import label_ends
    from onward.report.style import FAINT, colours, line_of, open_left, percent_axis, styled

    def draw() -> Figure:
        figure = Figure(figsize=(6.2, 3.7), layout="constrained")
        axes = figure.subplots()
        palette, ends = colours(found.models), {}
        for course in courses:
            known = np.flatnonzero(np.isfinite(course.scores))
            if not len(known):
                continue
            low, high = (100 * bound[known] for bound in course.bounds())
            colour, name, mean = palette[course.model], course.model, 100 * course.scores[known]
            line_of(axes, name, known, mean, colour, (low, high), alpha=0.12)
            ends[name] = (float(known[-1]), float(mean[-1]))
            _ring(axes, found, course, cutoffs.get(name), colour)
        axes.axvline(found.split - 0.5, color=FAINT, lw=0.8, ls=(0, (3, 3)))
        every = max(1, -(-len(found.periods) // _TICKS))
        shown = list(range(0, len(found.periods), every))
        axes.set_xticks(shown, [found.periods[at] for at in shown])
        percent_axis(axes, "right first answers")
        open_left(axes)
        axes.set_xlabel("tested on")
        label_ends(axes, ends, palette, side="right")
        return figure

    return styled(draw)()


def _ring(
    axes: "Axes", found: "Dated", course: "Course", learned_upto: str | None, colour: str
) -> None:
    if learned_upto in found.periods:
        at = found.periods.index(learned_upto)
        height = 100 * course.scores[at]
        axes.plot([at], [height], "o", ms=11, mfc="none", mec=colour, mew=1.6)


def _groups(found: "Dated") -> dict[tuple[str, str], list["Course"]]:
    groups: dict[tuple[str, str], list[Course]] = {}
    for course in found.courses:
        groups.setdefault((course.test, course.about), []).append(course)
    return groups


def _title(test: str, about: str) -> str:
    return f"Test {test}" if about == _ALL else f"Test {test}, {about}"


def _caption(test: str, about: str, courses: Sequence["Course"]) -> str:
    asked = int(courses[0].questions.sum())
    only = "" if about == _ALL else f" Only the {asked:,} questions about {about} count."
    return (
        "Right first answers by period, a curve for each model; bands are 95 % intervals, a ring "
        f"is around the last period that a model has learned, where that is known.{only}"
    )


def _row(found: "Dated", course: "Course") -> list[str]:
    gap = found.gap(course)
    ends = (course.over(found.old).value, course.over(found.new).value, gap.value)
    about = "" if course.about == _ALL else course.about
    asked = f"{int(course.questions.sum()):,}"
    return [course.model, course.test, about, asked, *map(percent, ends), _between(gap)]


def _signed(value: float) -> str:
    return MISSING if math.isnan(value) else f"{100 * value:+.1f}"


def _between(found: "Estimate") -> str:
    return f"{percent(found.low)} to {percent(found.high)}"
