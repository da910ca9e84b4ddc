"""Summaries for the terminal: a table per setting that fits the screen it is printed on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from onward.report.sheet import COST_WORDS, Sheet, sheets
from onward.report.sparkline import Sparklines, sparklines
from onward.report.summary import Summary
from onward.report.words import metric_words

_ANY_WIDTH = 10_000
_APART, _CLOSE = 2, 1
_NAME_WIDTH = 18


@dataclass(frozen=True, eq=False)
class _Column:
    heading: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"


class MethodsTable:
    """The methods of one setting; what is drawn depends on the screen.

    Sparklines need a terminal that can show block characters, and room: in a narrow one columns
    move together first, then the lines are left out. Where that is not enough, the columns are
    shared out over several tables, and no name or number is cut off.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out as wide as there is room for."""

        def fits(table: Table) -> bool:
            wanted = console.measure(table, options=options.update(max_width=_ANY_WIDTH))
            return wanted.maximum <= options.max_width

        draws = options.encoding.startswith("utf")
        tables, lines = self._fitted(fits, draws=draws)
        yield Text(" · ".join(self.sheet.title), style="bold")
        for number, table in enumerate(tables):
            if number:
                yield Text()
            yield table
        yield Text(self.note(lines=lines), style="dim")

    def _fitted(self, fits: Callable[[Table], bool], *, draws: bool) -> tuple[list[Table], bool]:
        """Return the tables that fit, and whether they have lines."""
        for lines in (True, False) if draws else (False,):
            for gap in (_APART, _CLOSE):
                whole = self.laid_out(lines=lines, gap=gap)
                if fits(whole):
                    return [whole], lines
        columns, part, tables = self._columns(lines=draws), list[_Column](), list[Table]()
        for at, column in enumerate(columns, 1):
            part.append(column)
            # Where all metrics fit side by side, what it cost begins the next table.
            metrics = len(part) == at == len(self.sheet.metrics)
            if at == len(columns) or metrics or not fits(self._table([*part, columns[at]], _APART)):
                tables.append(self._table(part, _APART))
                part = []
        return tables, draws

    def laid_out(self, *, lines: bool = True, gap: int = _APART) -> Table:
        """Return the whole table.

        A metric that the protocol leaves empty has no column. Bold is a value that the paired test
        finds better than every other method's.

        Parameters
        ----------
        lines
            Whether there is a column of sparklines.
        gap
            How many blanks stand between two columns.
        """
        return self._table(self._columns(lines=lines), gap)

    def note(self, *, lines: bool = True) -> str:
        """Say what the numbers and the lines are."""
        note, drawn = self.sheet.note(), self._drawn
        # Who asks for a metric by name is told where it went.
        empty = [n for n in self.sheet.summaries[0].more if n not in self.sheet.metrics]
        if empty:
            note += f"; {', '.join(empty)}: empty, since this protocol leaves cells out that count"
        if drawn is None or not lines:
            return note
        return f"{note}; over time: {drawn.words}, {100 * drawn.low:.1f} to {100 * drawn.high:.1f}"

    def _columns(self, *, lines: bool) -> list[_Column]:
        return [*self._metrics(), *self._costs(), *(self._lines() if lines else ())]

    def _metrics(self) -> Iterator[_Column]:
        sheet = self.sheet
        for name in sheet.metrics:
            cells = [
                # Without blanks round the sign, all five metrics fit into 80 columns.
                Text(
                    item.metrics[name].percent().replace(" ± ", "±"),
                    style="bold" if sheet.best[name] is item else "",
                )
                for item in sheet.summaries
            ]
            yield _Column(metric_words(name)[0].replace("-", " "), cells)

    def _costs(self) -> Iterator[_Column]:
        sheet = self.sheet
        for name in sheet.costs:
            cells = [Text(sheet.cost_text(item, name)) for item in sheet.summaries]
            yield _Column(COST_WORDS[name], cells)

    def _lines(self) -> Iterator[_Column]:
        if self._drawn is not None:
            yield _Column(
                "over time", [Text(line, style="cyan") for line in self._drawn.lines], "left"
            )

    @cached_property
    def _drawn(self) -> Sparklines | None:
        return sparklines(self.sheet.summaries)

    def _table(self, columns: Sequence[_Column], gap: int) -> Table:
        result = Table(
            box=box.SIMPLE_HEAD, show_edge=False, padding=(0, gap - 1, 0, 0), pad_edge=False
        )
        result.add_column("method", overflow="fold", max_width=_NAME_WIDTH)
        for column in columns:
            heading = column.heading.replace(" ", "\n")
            result.add_column(heading, justify=column.justify, no_wrap=True)
        for place, item in enumerate(self.sheet.summaries):
            # Options begin in a line of their own where they do not fit beside the name.
            fits = len(item.label.partition(" ")[0]) <= _NAME_WIDTH
            label = item.label if fits else item.label.replace("(", " (", 1)
            result.add_row(Text(label), *(column.cells[place] for column in columns))
        return result


def tables(summaries: Sequence[Summary]) -> list[MethodsTable]:
    """Return one table per setting: data, protocol, recipe and budget."""
    return [MethodsTable(sheet) for sheet in sheets(summaries)]
