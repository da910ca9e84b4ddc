"""``onward check``: prove it."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from onward.results.check import check_folder
from onward.results.read import find_folders

app = typer.Typer(help="Check results, methods and streams.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Check results, methods and streams."""


@app.command()
def results(
    folder: Annotated[Path, typer.Argument(help="A results folder, or one run's folder.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check run folders: hashes, names, completeness, and every score computed again.

    Exit code 0 if all is well, 2 otherwise.
    """
    folders = list(find_folders(folder))
    findings = [finding for run in folders for finding in check_folder(run)]
    if as_json:
        plain = [{"folder": str(f.folder), "problem": f.problem} for f in findings]
        typer.echo(json.dumps({"checked": len(folders), "problems": plain}, indent=1))
    else:
        console = Console(highlight=False)
        for finding in findings:
            console.print(f"[red]{finding.folder}[/]: {finding.problem}", soft_wrap=True)
        wrong = len({finding.folder for finding in findings})
        console.print(f"{len(folders)} run folders checked, {wrong} with problems")
    if findings:
        raise typer.Exit(2)
