"""``onward check``: prove it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from onward.benchmarks import BENCHMARKS, Source
from onward.benchmarks.clad_data import STREET, street_folder
from onward.benchmarks.recipes import RECIPES
from onward.benchmarks.rules import rules
from onward.checks import Report, check_data, check_method, check_stream, tiny_benchmark
from onward.checks.clad import check_clad, clad_images
from onward.checks.data import rows_to_read
from onward.checks.tic import check_tic, tic_images
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_editions import tiny_for, tiny_like
from onward.cli.console import console
from onward.cli.progress import reading
from onward.cli.source import with_data, with_source
from onward.data.clad_counts import counts
from onward.data.counts import Count
from onward.data.gaps import write_names
from onward.data.soda import read_soda
from onward.data.street.drives import FRAMES
from onward.data.tic_counts import published_counts
from onward.data.tic_folder import read_tic
from onward.errors import OnwardError, unknown
from onward.methods import METHODS
from onward.protocols import DOMAINS
from onward.results.check_many import check_results
from onward.results.keys import known_keys, read_keys
from onward.results.read import find_folders

app = typer.Typer(help="Check results, methods, streams and data.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def results(
    folder: Annotated[Path, typer.Argument(help="A results folder, or one run's folder.")],
    *,
    key: Annotated[
        Path | None, typer.Option(help="What tests must be, as onward data key wrote it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check run folders, as before they are submitted: nothing in them is taken on trust.

    Hashes, names and completeness; every score computed again from single decisions; samples and
    targets against the benchmark's key; limits; seeds that are copies of each other. Exit code 0 if
    all is well, 2 otherwise.
    """
    keys = known_keys() if key is None else known_keys() | read_keys(key)
    folders = list(find_folders(folder))
    with reading(len(folders), "run folders", "checking") as progress:
        checked = check_results(folders, keys, rules(), progress)
    if as_json:
        plain = [{"folder": str(f.folder), "problem": f.problem} for f in checked.problems]
        found = {"checked": checked.runs, "problems": plain, "notes": checked.notes}
        typer.echo(json.dumps(found, indent=1))
    else:
        screen = console()
        for run, problems in checked.wrong.items():
            screen.print(f"[red]{escape(str(run))}[/]:", soft_wrap=True)
            for problem in problems:
                screen.print(f"  {escape(problem)}", soft_wrap=True)
        for note in checked.notes:
            screen.print(f"[yellow]note[/]: {escape(note)}", soft_wrap=True)
        screen.print(f"{checked.runs} run folders checked, {len(checked.wrong)} with problems")
    if checked.problems:
        raise typer.Exit(2)


@app.command()
def method(
    name: Annotated[str, typer.Argument(help="A method, or path/to/file.py:Name.")],
    *,
    benchmark: Annotated[
        str | None,
        typer.Option(help="A benchmark whose tiny edition it is to learn from, see: onward list."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="What it trains: linear, mlp, or resnet18, which takes minutes. Default: linear, "
            "or what the method needs."
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="What is shown when; incomplete: many labels, of which one is shown; domains: "
            "boxes. Default: iid, or what the method needs."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that a method is repeatable and resumable and sees only the past.

    It is run some forty times on a tiny stream. Exit code 0 if all is well, 2 otherwise.
    """
    if model is not None and model not in RECIPES:
        raise unknown("model", model, RECIPES, "onward check method --help")
    if benchmark is not None:
        if model is not None or protocol is not None:
            raise OnwardError(
                "expected a benchmark, which has a model and a protocol of its own, or one of "
                "these; found both. Leave --benchmark out, or the others"
            )
        made = tiny_like(BENCHMARKS.find(benchmark), METHODS.get(name))
    elif protocol == DOMAINS.name:
        made = tiny_boxes()
    elif model is None:
        made = tiny_for(name, protocol)
    else:
        made = tiny_benchmark(protocol or "iid", model=model)
    report = check_method(name, made, raise_on_failure=False)
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


@app.command()
@with_data
def data(
    *,
    source: Source,
    root: Annotated[
        Path | None, typer.Option(help="clad: the folder that holds SSLAD-2D; tic: the folder.")
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option("--list", help="tic: write what is broken to this file, for --leave-out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read every image and every row of features in full, and list what is broken.

    Of clad and tic, counts that were published or that the data tells of itself are printed beside
    those that were found. Better now than hours into a run. Exit code 0 if all is well, 2
    otherwise.
    """
    if source.benchmark == "tic":
        folder = _named_folder(source, root, "tic", "TiC-CLIP's data")
        _tic(folder, source, listed, as_json=as_json)
        return
    if listed is not None:
        raise OnwardError(f"expected --list with the data of tic, found {source.benchmark}'s")
    if source.benchmark == "clad-c":
        folder = _soda_folder(source, root)
        _clad(folder, published=source.data != STREET, as_json=as_json)
        return
    problems: list[dict[str, Any]] = []
    try:
        made = source.load()
    except OnwardError as error:
        # What is missing is one finding among others: the rest is read all the same.
        problems.append({"row": None, "id": None, "column": None, "problem": str(error)})
        goes_on = source.benchmark in ("clear", "yours") and source.data != "emoji"
        if not goes_on or source.options.get("missing") == "skip":
            raise
        made = replace(source, options={**source.options, "missing": "skip"}).load()
    with reading(rows_to_read(made), "rows") as progress:
        problems += [broken.to_json() for broken in check_data(made, progress)]
    samples = len(made.raw)
    if as_json:
        typer.echo(json.dumps({"samples": samples, "problems": problems}, indent=1))
    else:
        screen = console()
        for problem in problems:
            where = "" if problem["row"] is None else f"row {problem['row']}, {problem['column']}: "
            screen.print(f"[red]{escape(where)}[/]{escape(problem['problem'])}", soft_wrap=True)
        columns = ", ".join(made.raw.wide)
        screen.print(f"{samples:,} samples read in full ({columns}), {len(problems)} problems")
    if problems:
        raise typer.Exit(2)


def _soda_folder(source: Source, root: Path | None) -> Path:
    if source.data == STREET:
        return street_folder(source.options.get("frames", FRAMES))
    return _named_folder(source, root, "clad", "SSLAD-2D")


def _named_folder(source: Source, root: Path | None, name: str, what: str) -> Path:
    if source.data != name:
        return Path(source.data).expanduser()
    if root is None:
        raise OnwardError(
            f"expected the folder that holds {what}. Say where it is: onward check data {name} "
            "--root DIR"
        )
    return root.expanduser()


def _tic(root: Path, source: Source, listed: Path | None, *, as_json: bool) -> None:
    given = {
        name: value
        for name, value in source.options.items()
        if name in ("calendar", "shards", "leave_out")
    }
    found = read_tic(root, side=32, **given, missing="skip", window=0)
    with reading(tic_images(found), "images") as progress:
        broken = check_tic(found, progress)
    problems = [*found.gaps, *(flaw.problem for flaw in broken)]
    if listed is not None:
        write_names(listed, [*found.flaws, *broken])
    published = published_counts(found)
    wrong = [count for count in found.counts if not count.right]
    if as_json:
        told = {
            name: [count._asdict() for count in counts]
            for name, counts in (("counts", found.counts), ("published", published))
        }
        typer.echo(
            json.dumps(
                {"layout": found.layout, **told, "notes": found.notes, "problems": problems},
                indent=1,
            )
        )
    else:
        screen = console()
        if wrong:
            screen.print(_beside_published(wrong))
        if published:
            screen.print(_beside_published(published, judged=False))
        for note in found.notes:
            screen.print(escape(note), soft_wrap=True)
        for problem in problems:
            screen.print(f"[red]{escape(problem)}[/]", soft_wrap=True)
        right = len(found.counts) - len(wrong)
        said = f", {right} of {len(found.counts)} counts as it says itself" * bool(found.counts)
        screen.print(
            f"{found.layout}: {len(found.periods)} periods{said}, {tic_images(found):,} images "
            f"read in full, {len(problems)} problems",
            soft_wrap=True,
        )
    if wrong or problems:
        raise typer.Exit(2)


def _clad(root: Path, *, published: bool, as_json: bool) -> None:
    soda = read_soda(root)
    found = counts(soda) if published else []
    with reading(clad_images(soda), "images") as progress:
        problems = check_clad(soda, progress)
    wrong = [count for count in found if not count.right]
    if as_json:
        plain = [count._asdict() for count in found]
        typer.echo(json.dumps({"counts": plain, "problems": problems}, indent=1))
    else:
        screen = console()
        if published:
            screen.print(_beside_published(found))
            screen.print(f"{len(found) - len(wrong)} of {len(found)} counts as published")
        for problem in problems:
            screen.print(f"[red]{escape(problem)}[/]", soft_wrap=True)
        screen.print(f"{clad_images(soda):,} images read in full, {len(problems)} problems")
    if wrong or problems:
        raise typer.Exit(2)


def _beside_published(found: Sequence[Count], *, judged: bool = True) -> Table:
    table = Table(box=None, padding=(0, 2))
    for column in ("published in", "what", "expected", "found"):
        table.add_column(column, justify="right" if column in ("expected", "found") else "left")
    for count in found:
        style = "red" if judged and not count.right else ""
        numbers = (f"{count.expected:,}", f"{count.found:,}")
        table.add_row(count.source, count.what, *numbers, style=style)
    return table


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
