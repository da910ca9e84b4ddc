"""What differs between two runs, for the terminal."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from onward.report.comparison import signed_points
from onward.report.difference import Cell, Difference, MetricDifference
from onward.report.disagreement import Disagreement
from onward.report.fields import Change, printable, value_text
from onward.report.numbers import percent, points
from onward.report.sheet import COST_WORDS, short_number
from onward.report.sides import Group
from onward.report.summary import Measure
from onward.report.words import NOT_METERED, decision, metric_words, seeds

_COSTS = COST_WORDS | {
    "samples": "samples read",
    "peak_memory_bytes": "peak memory, bytes",
    "peak_device_memory_bytes": "peak device memory, bytes",
}


def parts(found: Difference) -> Iterator[RenderableType]:
    """Yield what to print, part by part; what does not differ has no part."""
    yield _sides(found)
    yield Text(_verdict(found), style="bold")
    if found.spec:
        yield _headed("What was asked", _changes(found.spec))
    if found.environment:
        yield _headed("What it ran on", _changes(found.environment))
    if found.cost:
        yield _headed("What it cost, mean of a run", _cost(found.cost))
    if found.metrics and found.same_scores is not True:
        yield _headed("Metrics, in percent; A \N{MINUS SIGN} B in points", _metrics(found.metrics))
    if found.cells:
        heading = f"Cells: {found.cells_differing} of {found.cells_shared} differ, these most"
        yield _headed(heading, _cells(found.cells))
    differing = [one for one in found.answers if one.different]
    if differing:
        alone = len(found.a.seeds) == len(found.b.seeds) == 1
        yield _headed("Answers that differ", _answers(differing, alone=alone))


def _sides(found: Difference) -> Table:
    table = _plain_table()
    for letter, group in (("A", found.a), ("B", found.b)):
        table.add_row(Text(letter, style="bold"), Text(f"{group.name}, {_runs(group)}"))
    return table


def _runs(group: Group) -> str:
    if not group.records:
        return f"a spec with seed {group.spec.seed}"
    unfinished = sum(not record.complete for record in group.records)
    told = f", {unfinished} not finished" if unfinished else ""
    if len(group.records) == 1:
        return f"seed {group.seeds[0]}{told}"
    return f"{seeds(len(group.records))}{told}"


def _verdict(found: Difference) -> str:
    if found.same_scores is None:
        return "The same spec." if not found.spec else _asked(found)
    if found.same:
        more = " and the same answers" if found.answers else ""
        return f"The same: the same spec, the same scores{more}."
    scores = "The scores are the same." if found.same_scores else "The scores differ."
    asked = _asked(found) if found.spec else "The same spec."
    note = "" if found.comparable else " They come from different tests: do not compare them."
    return f"{asked} {scores}{note}"


def _asked(found: Difference) -> str:
    fields = len(found.spec)
    return "1 field of the spec differs." if fields == 1 else f"{fields} fields of the spec differ."


def _changes(found: Sequence[Change]) -> Table:
    table = _plain_table("", "A", "B")
    for change in found:
        table.add_row(*map(Text, (change.field, _value(change.a), _value(change.b))))
    return table


def _value(value: Any) -> str:
    """Tell a field that is missing from one that is called none."""
    return "not there" if value is None else value_text(value)


def _cost(found: Sequence[Change]) -> Table:
    table = _plain_table("", "A", "B", "B / A", numbers=True)
    for change in found:
        name = _COSTS.get(change.field, change.field)
        a, b = (_amount(change.field, value) for value in (change.a, change.b))
        # Neither where one of them has no such cost, nor where it was not metered.
        known = change.a and change.b is not None and not math.isnan(change.b / change.a)
        ratio = f"{change.b / change.a:.2f}" if known else ""
        table.add_row(name, a, b, ratio)
    return table


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return "none"
    if math.isnan(value):
        return NOT_METERED
    if name in ("macs", "peak_memory_bytes", "peak_device_memory_bytes"):
        return short_number(value)
    return f"{value:.2f}" if name.endswith("seconds") else f"{value:,.0f}"


def _metrics(found: Sequence[MetricDifference]) -> Table:
    table = _plain_table("", "A", "B", "A \N{MINUS SIGN} B", "A ahead", "", numbers=True)
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    for one in found:
        gain, ahead, decided = Measure((one.a.mean - one.b.mean,)), "", ""
        if one.paired is not None:
            gain, verdict = one.paired.gain, one.paired.verdict
            ahead, decided = f"{verdict.wins} of {verdict.n}", decision(verdict)
        # Without blanks round the sign, the verdict has room beside the numbers.
        cells = (one.a.percent(), one.b.percent(), signed_points(gain))
        table.add_row(
            metric_words(one.name)[0], *(cell.replace(" ± ", "±") for cell in cells), ahead, decided
        )
    return table


def _cells(found: Sequence[Cell]) -> Table:
    table = _plain_table("after", "tested on", "A", "B", "A \N{MINUS SIGN} B", numbers=True)
    table.columns[1].justify = "left"
    for cell in found:
        tested = cell.test if cell.tested_on is None else cell.tested_on
        if cell.tested_on is not None and cell.test != "period":
            tested += f" ({cell.test})"
        scores = (percent(cell.a), percent(cell.b), points(cell.difference))
        table.add_row(Text(printable(cell.learned_upto)), Text(printable(tested)), *scores)
    return table


def _answers(found: Sequence[Disagreement], *, alone: bool) -> Table:
    table = _plain_table()
    for one in found:
        told = f"{one.different:,} of {one.answers:,}"
        if one.only_a is not None:
            told += f"; right in A alone {one.only_a:,}, in B alone {one.only_b:,}"
        table.add_row(Text(printable(one.test)), Text(told))
        for sample in one.first:
            seed = "" if alone else f"seed {sample.seed}, "
            tested = "" if sample.tested_on is None else f", on {sample.tested_on}"
            text = f"  {seed}after {sample.learned_upto}{tested}: {value_text(sample.id)}"
            table.add_row("", Text(printable(text), style="dim"))
    return table


def _plain_table(*headings: str, numbers: bool = False) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=any(headings))
    for place, heading in enumerate(headings or ("", "")):
        right = numbers and place > 0
        table.add_column(
            heading,
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
            header_style="dim",
        )
    return table


def _headed(heading: str, table: Table) -> Table:
    outer = Table.grid()
    outer.add_row()
    outer.add_row(Text(heading, style="bold"))
    outer.add_row(Padding(table, (0, 0, 0, 2)))
    return outer
