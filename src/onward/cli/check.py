"""``onward check``: prove it."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.benchmarks import Source
from onward.benchmarks.recipes import RECIPES
from onward.checks import Report, check_method, check_stream, tiny_benchmark
from onward.cli.console import console
from onward.cli.source import with_source
from onward.errors import unknown
from onward.results.check import check_folder
from onward.results.read import find_folders

app = typer.Typer(help="Check results, methods and streams.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def results(
    folder: Annotated[Path, typer.Argument(help="A results folder, or one run's folder.")],
    *,
    as_json: AsJson = False,
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
        screen = console()
        for finding in findings:
            screen.print(f"[red]{escape(str(finding.folder))}[/]:", soft_wrap=True)
            screen.print(f"  {escape(finding.problem)}", soft_wrap=True)
        wrong = len({finding.folder for finding in findings})
        screen.print(f"{len(folders)} run folders checked, {wrong} with problems")
    if findings:
        raise typer.Exit(2)


@app.command()
def method(
    name: Annotated[str, typer.Argument(help="A method, or path/to/file.py:Name.")],
    *,
    model: Annotated[
        str, typer.Option(help="What it trains: linear, mlp, or resnet18, which takes minutes.")
    ] = "linear",
    as_json: AsJson = False,
) -> None:
    """Check that a method is repeatable and resumable and sees only the past.

    It is run some forty times on a tiny stream. Exit code 0 if all is well, 2 otherwise.
    """
    if model not in RECIPES:
        raise unknown("model", model, RECIPES, "onward check method --help")
    report = check_method(name, tiny_benchmark(model=model), raise_on_failure=False)
    _print(report, as_json=as_json)


@app.command()
@with_source
def stream(
    *,
    source: Source,
    as_json: AsJson = False,
) -> None:
    """Check that a benchmark's stream is sound and is not prepared from the future.

    Exit code 0 if all is well, 2 otherwise.
    """
    _print(check_stream(source.load(), raise_on_failure=False), as_json=as_json)


_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


def _print(report: Report, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        screen = console()
        for finding in report:
            style = _STYLES[finding.status]
            screen.print(f"[{style}]{finding.status:8}[/] {escape(finding.sentence)}")
            if finding.detail:
                screen.print(f"         [dim]{escape(finding.detail)}[/]")
        screen.print(
            f"{report.kind} {report.subject}: {len(report.passed)} checks passed, "
            f"{len(report.failed)} failed, {len(report.skipped)} skipped"
        )
    if not report.ok:
        raise typer.Exit(2)
