"""Several models on dated tests: tables for the terminal, pictures, and a page."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from onward.report.evaluation import empty_table
from onward.report.numbers import MISSING, percent

if TYPE_CHECKING:
    from onward.evaluation.dated import Course, Dated, Estimate

_ALL = "all"
_MOST_PANELS = 12


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
    from onward.report.dated_picture import by_period
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
