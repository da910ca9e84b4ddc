"""Summaries for the terminal: a table per setting that fits the screen it is printed on."""

from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from onward.report.sheet import COST_WORDS, Sheet, sheets
from onward.report.sparkline import sparklines
from onward.report.summary import Summary
from onward.report.words import metric_words

_ANY_WIDTH = 10_000


class MethodsTable:
    """The methods of one setting; what is drawn depends on the screen.

    Sparklines need a terminal that can show block characters, and room: in a narrow one columns
    move together first, then the lines are left out.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out as wide as there is room for."""
        draws = [True, False] if options.encoding.startswith("utf") else [False]
        for lines, gap in [(lines, gap) for lines in draws for gap in (2, 1)]:
            found = self.laid_out(lines=lines, gap=gap)
            wanted = console.measure(found, options=options.update(max_width=_ANY_WIDTH))
            if wanted.maximum <= options.max_width:
                break
        yield found

    def laid_out(self, *, lines: bool = True, gap: int = 2) -> Table:
        """Return the table itself.

        A metric that the protocol leaves empty has no column. Bold is a value that the paired test
        finds better than every other method's.

        Parameters
        ----------
        lines
            Whether there is a column of sparklines.
        gap
            How many blanks stand between two columns.
        """
        sheet = self.sheet
        time = sparklines(sheet.summaries) if lines else None
        note = sheet.note()
        if time is not None:
            note += f"; over time: {time.words}, {100 * time.low:.1f} to {100 * time.high:.1f}"
        result = Table(
            title=Text(" · ".join(sheet.title), style="bold"),
            title_justify="left",
            caption=Text(note, style="dim"),
            caption_justify="left",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            padding=(0, gap - 1, 0, 0),
            pad_edge=False,
        )
        result.add_column("method", overflow="fold", max_width=18)
        for name in sheet.metrics:
            heading = metric_words(name)[0].replace("-", " ")
            result.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
        for name in sheet.costs:
            heading = COST_WORDS[name].replace(" ", "\n")
            result.add_column(heading, justify="right", no_wrap=True)
        if time is not None:
            result.add_column("over\ntime", no_wrap=True)
        for place, item in enumerate(sheet.summaries):
            cells = [
                # Without blanks round the sign, all five metrics fit into 80 columns.
                Text(
                    item.metrics[name].percent().replace(" ± ", "±"),
                    style="bold" if sheet.best[name] is item else "",
                )
                for name in sheet.metrics
            ]
            cells += [Text(sheet.cost_text(item, name)) for name in sheet.costs]
            cells += [] if time is None else [Text(time.lines[place])]
            result.add_row(Text(item.label), *cells)
        return result


def tables(summaries: Sequence[Summary]) -> list[MethodsTable]:
    """Return one table per setting: data, protocol, recipe and budget."""
    return [MethodsTable(sheet) for sheet in sheets(summaries)]
