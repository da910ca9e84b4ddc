"""``onward show``: what came out."""

from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console, print_json
from onward.cli.options import AsJson, MoreMetrics
from onward.report.summary import summarise, unfinished
from onward.report.terminal import tables, to_json
from onward.results.read import find_folders
from onward.results.record import load_record


def show(
    results: Annotated[Path, typer.Argument(help="A results folder, or one run's folder.")],
    *,
    metric: MoreMetrics = None,
    as_json: AsJson = False,
) -> None:
    """Show the results in a folder: mean ± deviation over seeds, and what they cost."""
    records = [load_record(folder) for folder in find_folders(results)]
    summaries = summarise(records, metric or ())
    if as_json:
        print_json(to_json(summaries))
        return
    screen = console()
    for table in tables(summaries):
        screen.print(table)
    left_out = len(unfinished(records))
    if left_out:
        screen.print(f"{left_out} unfinished runs are left out; run them again to finish them")
