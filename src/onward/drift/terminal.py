"""What was found, for a terminal of 100 columns."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from onward.drift.measure import Drift
from onward.drift.pairs import Measured, Pair
from onward.drift.slices import brief
from onward.drift.verdict import findings, headline
from onward.report.fields import shortened
from onward.report.numbers import MISSING
from onward.report.plain_table import plain_table

_MOST_LINES = 40
_LONGEST = 14


def lines(found: Drift) -> Iterator[Table | Text]:
    """Yield what to print, from top to bottom."""
    yield Text(f"{found.benchmark.card.title}: {len(found.parts)} periods", style="bold")
    yield Text(headline(found))
    yield _table(found)
    yield Text(
        "distances beside the 95 % quantile without drift at the same numbers of samples, bold "
        "where above it; told apart with its 95 % interval, p after Holm's rule over all pairs",
        style="dim",
    )
    for finding in findings(found)[1:]:
        yield Text.assemble((f"{finding.question} ", "bold"), f"{finding.answer}. ")
    for name, words in found.notes.items():
        yield Text.assemble((f"{name}: ", "cyan"), words)


def _table(found: Drift) -> Table:
    table = plain_table()
    table.add_column("from → to", no_wrap=True)
    for name in ("Fréchet", "labels", "nouns", "told apart", "p"):
        if name != "nouns" or found.nouns is not None:
            table.add_column(name, justify="right", no_wrap=True)
    table.add_column("drift", no_wrap=True)
    pairs = list(found.pairs)
    for pair in pairs[:_MOST_LINES]:
        table.add_row(*_cells(found, pair))
    if len(pairs) > _MOST_LINES:
        table.add_row(f"and {len(pairs) - _MOST_LINES} more: --json")
    return table


def _cells(found: Drift, pair: Pair) -> list[Text | str]:
    one, other = found.parts[pair.before], found.parts[pair.after]
    told = pair.told
    cells: list[Text | str] = [
        Text(f"{_short(one.name)} → {_short(other.name)}", style="" if pair.neighbours else "dim"),
        _beside(pair.frechet),
        _beside(pair.tags.get("labels")),
    ]
    if found.nouns is not None:
        cells.append(_beside(pair.tags.get("nouns")))
    if told is None:
        return [*cells, "few groups", MISSING, ""]
    p = "<0.001" if pair.adjusted < 0.001 else f"{pair.adjusted:.3f}"
    return [
        *cells,
        f"{100 * told.accuracy:.1f} % ({100 * told.low:.0f} to {100 * told.high:.0f})",
        p,
        Text("yes", style="bold red") if pair.drift else "no",
    ]


def _short(name: str) -> str:
    """Return a name that leaves room for numbers."""
    return shortened(brief(name), _LONGEST)


def _beside(one: Measured | None) -> Text | str:
    if one is None:
        return MISSING
    style = "bold" if one.above else ""
    return Text.assemble((f"{one.distance:.3f}", style), (f" ({one.high:.3f})", "dim"))
