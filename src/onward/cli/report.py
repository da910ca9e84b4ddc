"""``onward report``: the page to show."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console
from onward.configs import TABLES
from onward.reproduce.published_rows import published_rows
from onward.results.collect import collect

_MOST_LINES = 12


def report(
    results: Annotated[
        list[Path], typer.Argument(help="Results folders, or folders of single runs.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The headline.")] = None,
) -> None:
    """Write one page that shows the results: verdict, tables, heat maps, curves, cost.

    The page is one file that needs no server and no network. Runs that are not finished, or cannot
    be read, are left out and named.
    """
    from onward.report.page import write_page  # drawings: heavy

    published = published_rows(TABLES.values())
    page = write_page(collect(results), out, title=title, published=published)
    screen = console()
    runs = "1 run" if page.runs == 1 else f"{page.runs:,} runs"
    screen.print(f"{runs}: {escape(', '.join(page.chapters))}", soft_wrap=True)
    for line in page.left_out[:_MOST_LINES]:
        screen.print(f"[yellow]left out:[/] {escape(line)}", soft_wrap=True)
    if len(page.left_out) > _MOST_LINES:
        screen.print(f"[yellow]left out:[/] and {len(page.left_out) - _MOST_LINES} more")
    screen.print(f"the page: {escape(str(page.path))}", soft_wrap=True)
