"""``onward demo``: the product in one command."""

import time
from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console
from onward.cli.progress import resumable
from onward.cli.runs import live, with_execution
from onward.demo import jobs as all_jobs
from onward.demo import write_demo_page
from onward.executors.executor import Execution
from onward.report.summary import summarise
from onward.report.terminal import tables
from onward.sweep import sweep


@with_execution
def demo(
    *,
    out: Annotated[Path, typer.Option(help="Where results and page go.")] = Path("onward-demo"),
    execution: Execution,
) -> None:
    """See a model go stale on ten years of emoji, and methods that keep it fresh.

    Five methods, six seeds, two protocols: sixty runs, a table, and a page to show.
    """
    screen = console()
    wanted = all_jobs()
    begun = time.monotonic()
    with resumable(out), live(len(wanted), periods=7) as watch:
        records = sweep(wanted, out / "results", watch=watch, **execution)
    summaries = summarise(records)
    for table in tables(summaries):
        screen.print(table)
        screen.print()
    page = write_demo_page(records, out / "index.html")
    screen.print(f"{len(records)} runs in {time.monotonic() - begun:.0f} s")
    screen.print(f"the page: {page}", soft_wrap=True)
