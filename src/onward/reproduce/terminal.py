"""An outcome for the terminal: two lines a row, ours and theirs, then the claims."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from onward.report.numbers import MISSING, percent, several
from onward.report.plain_table import plain_table
from onward.report.summary import Measure
from onward.reproduce import words
from onward.reproduce.claims import Cell, Judgement
from onward.reproduce.engine import Outcome
from onward.reproduce.table import Row

# So many methods fit beside each other.
_ABREAST = 7
_STYLES = {"holds": "bold green", "does not hold": "bold red", "cannot tell": "bold yellow"}


def render(outcome: Outcome) -> Group:
    """Lay an outcome out for a terminal of 100 columns."""
    return Group(*_parts(outcome))


def _parts(outcome: Outcome) -> Iterator[RenderableType]:
    table = outcome.plan.table
    yield Text(f"{table.name} · {table.title}", style="bold")
    yield Text(table.citation, style="dim")
    if table.upright:
        rows = outcome.plan.rows()
        yield from (
            _upright(outcome, rows[at : at + _ABREAST]) for at in range(0, len(rows), _ABREAST)
        )
    else:
        yield _table(outcome)
    yield Text(
        f"percent, mean{'' if table.upright else ' ± one standard deviation'}; ours: "
        f"{outcome.plan.data}, {outcome.plan.recipe} recipe, {words.seeds_used(outcome)}; "
        f"published: {several(table.published_runs, 'run')}",
        style="dim",
    )
    for text in (*table.caveats(outcome.plan.data, outcome.plan.recipe), *table.notes):
        yield _item("·", text)
    for reason, names in outcome.plan.left_out().items():
        yield _item("·", f"Left out, {reason}: {', '.join(names)}.")
    yield Text()
    yield Text("What the paper claims", style="bold")
    for judgement in outcome.judgements:
        yield _judgement(outcome, judgement)
    if outcome.unjudged():
        yield _item("·", f"Nothing was run for: {', '.join(outcome.unjudged())}.")


def _table(outcome: Outcome) -> Table:
    columns = outcome.plan.columns()
    result = plain_table()
    result.add_column("", overflow="fold", max_width=26)
    for protocol, members in groupby(columns, key=lambda column: column.protocol):
        for at, column in enumerate(members):
            # Words one below the other, and the protocol above the first of its columns.
            heading = column.heading.replace(" ", "\n").replace("-", "-\n")
            lead = Text(protocol if at == 0 else "", style="bold")
            result.add_column(Text("\n").join([lead, Text(heading)]), justify="right", no_wrap=True)
    for row in outcome.plan.rows():
        cells = [Cell(row.name, column.name) for column in columns]
        result.add_row(Text(row.label), *(words.number(outcome.ours(cell)) for cell in cells))
        theirs = (outcome.plan.table.published(cell).text() for cell in cells)
        result.add_row(Text("  published"), *theirs, style="dim")
    return result


def _upright(outcome: Outcome, rows: Sequence[Row]) -> Table:
    """Return columns one below the other: a method from period to period. Means alone fit in."""
    table = outcome.plan.table
    result = plain_table()
    result.add_column("", overflow="fold", max_width=24)
    for row in rows:
        heading = row.label.replace(" ", "\n").replace("-", "-\n")
        result.add_column(Text(heading), justify="right", no_wrap=True)
    for column in outcome.plan.columns():
        cells = [Cell(row.name, column.name) for row in rows]
        result.add_row(Text(column.heading), *(_mean(outcome.ours(cell)) for cell in cells))
        theirs = [table.published(cell) for cell in cells]
        if any(value.mean is not None for value in theirs):
            result.add_row(
                Text("  published"),
                *(MISSING if value.mean is None else f"{value.mean:.1f}" for value in theirs),
                style="dim",
            )
    return result


def _mean(ours: Measure | None) -> str:
    return MISSING if ours is None else percent(ours.mean)


def _judgement(outcome: Outcome, judgement: Judgement) -> RenderableType:
    claim, table = judgement.claim, outcome.plan.table
    lines = [Text.assemble((f"{judgement.answer:14}", _STYLES[judgement.answer]), claim.name)]
    below = [f"{claim.text} ({claim.where})"]
    if counted := words.counted(judgement):
        below.append(f"{counted}; {judgement.published.sentence()}.")
    else:
        below.append(f"{judgement.published.sentence().capitalize()}.")
    if judgement.weakest is not None:
        lead = "Weakest: " if len(claim.pairs) > 1 else "Ours: "
        below.append(f"{lead}{words.tested(table, judgement.weakest)}.")
    if claim.note:
        below.append(claim.note)
    return Group(*lines, *(Padding(Text(text, style="dim"), (0, 0, 0, 14)) for text in below))


def _item(mark: str, text: str) -> Table:
    """Return a paragraph that hangs from its mark."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark, style="dim"), Text(text, style="dim"))
    return grid
