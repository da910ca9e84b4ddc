"""An evaluated model, laid out for the terminal: a table for each test, by period."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from onward.report.numbers import percent
from onward.report.plain_table import plain_table

if TYPE_CHECKING:
    from onward.evaluation.evaluate import Evaluation
    from onward.evaluation.sitting import Outcome
    from onward.evaluation.static import StaticOutcome

_DEPTHS = (1, 5, 10)
_RETRIEVAL = {
    "R@1\nmean": "recall1",
    **{f"image→text\nR@{k}": f"image_to_text{k}" for k in _DEPTHS},
    **{f"text→image\nR@{k}": f"text_to_image{k}" for k in _DEPTHS},
}
_CLASSES = {"accuracy": "image_to_text1", "top 5": "image_to_text5"}
_PER_CLASS = "mean\nper class"


def tables(found: "Evaluation") -> Iterator[Table]:
    """Yield a table for each test of the periods, and one for each kind of those without one."""
    for name in found.tests:
        rows = {period: tests[name] for period, tests in found.periods.items() if name in tests}
        yield _table(f"{found.data} · test {name}", "period", rows)
    for classifies in (False, True):
        rows = {name: one for name, one in found.static.items() if one.classifies == classifies}
        if rows:
            yield _table(f"{found.data} · static", "test", rows)
    if found.tasks is not None:
        yield _tasks(found.tasks)


def remarks(found: "Evaluation") -> Iterator[str]:
    """Yield what else there is to say, a line each."""
    usual = found.tests[0]
    by_period = {
        period: tests[usual].scores["recall1"]
        for period, tests in found.periods.items()
        if usual in tests and not math.isnan(tests[usual].scores["recall1"])
    }
    if by_period:
        best, worst = (
            max(by_period, key=by_period.__getitem__),
            min(by_period, key=by_period.__getitem__),
        )
        yield (
            f"R@1, test {usual}: highest for {best} ({percent(by_period[best])}), lowest for "
            f"{worst} ({percent(by_period[worst])})"
        )
    if found.tasks is None:
        return
    for name, one in found.tasks.averages.items():
        if not math.isnan(one.value):
            yield f"{name}: {percent(one.value)}, the mean of {', '.join(one.of)}"
        elif one.of:
            yield f"{name}: none, for lack of {', '.join(one.lacking or one.of)}"
    if found.tasks.absent:
        yield f"not there, of TiC-CLIP's Table 10: {', '.join(found.tasks.absent)}"


def _table(title: str, first: str, rows: "Mapping[str, Outcome]") -> Table:
    classifies = all(one.classifies for one in rows.values())
    columns = _CLASSES if classifies else _RETRIEVAL
    parts = list(dict.fromkeys(part for one in rows.values() for part in one.by_part))
    per_class = classifies and any(one.by_class for one in rows.values())
    result = empty_table(title, first)
    for heading in (*columns, *([_PER_CLASS] if per_class else []), *parts):
        result.add_column(heading, justify="right", no_wrap=True)
    for name, one in rows.items():
        cells = [percent(one.scores[key]) for key in columns.values()]
        if per_class:
            cells.append(percent(_mean(one.by_class)))
        cells += [percent(one.by_part.get(part, math.nan)) for part in parts]
        result.add_row(name, *cells)
    return result


def _tasks(found: "StaticOutcome") -> Table:
    result = empty_table("static tasks", "task")
    for heading in ("score", "metric", "samples", "parts of its classes"):
        result.add_column(heading, justify="right" if heading in ("score", "samples") else "left")
    for name, task in found.tasks.items():
        parts = [f"{part} {percent(value)}" for part, value in task.outcome.by_part.items()]
        result.add_row(
            name, percent(task.score), task.metric, str(task.outcome.samples), ", ".join(parts)
        )
    return result


def empty_table(title: str, first: str) -> Table:
    """Return a table with a title and its first column."""
    result = plain_table(title)
    result.add_column(first, no_wrap=True)
    return result


def _mean(values: Mapping[str, float]) -> float:
    there = [value for value in values.values() if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan
