"""``onward check``: prove it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from onward.benchmarks import BENCHMARKS, Source
from onward.benchmarks.clad_data import STREET, street_folder
from onward.benchmarks.recipes import RECIPES
from onward.benchmarks.rules import rules
from onward.checks import (
    Report,
    check_data,
    check_method,
    check_metric,
    check_stream,
    tiny_benchmark,
)
from onward.checks.clad import check_clad, clad_images
from onward.checks.data import rows_to_read
from onward.checks.tic import check_tic, tic_images
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_editions import tiny_for, tiny_like
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
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

app = typer.Typer(help="Check results, methods, metrics, streams and data.", no_args_is_help=True)


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
    plain = [{"folder": str(f.folder), "problem": f.problem} for f in checked.problems]
    lines = [
        "\n  ".join([f"[red]{escape(str(run))}[/]:", *map(escape, problems)])
        for run, problems in checked.wrong.items()
    ]
    lines += [f"[yellow]note[/]: {escape(note)}" for note in checked.notes]
    lines.append(f"{checked.runs} run folders checked, {len(checked.wrong)} with problems")
    found = {"checked": checked.runs, "problems": plain, "notes": checked.notes}
    _say(found, lines, as_json=as_json, ok=not checked.problems)


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
def metric(
    name: Annotated[str, typer.Argument(help="A metric, see: onward list metrics.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check that a metric is a pure function from a score matrix to a number within its bounds.

    Exit code 0 if all is well, 2 otherwise.
    """
    _print(check_metric(name, raise_on_failure=False), as_json=as_json)


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
    samples, lines = len(made.raw), []
    for problem in problems:
        where = "" if problem["row"] is None else f"row {problem['row']}, {problem['column']}: "
        lines.append(f"[red]{escape(where)}[/]{escape(problem['problem'])}")
    columns = ", ".join(made.raw.wide)
    lines.append(f"{samples:,} samples read in full ({columns}), {len(problems)} problems")
    plain = {"samples": samples, "problems": problems}
    _say(plain, lines, as_json=as_json, ok=not problems)


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
    asked = ("calendar", "shards", "leave_out")
    given = {name: value for name, value in source.options.items() if name in asked}
    found = read_tic(root, side=32, **given, missing="skip", window=0)
    with reading(tic_images(found), "images") as progress:
        broken = check_tic(found, progress)
    problems = [*found.gaps, *(flaw.problem for flaw in broken)]
    if listed is not None:
        write_names(listed, [*found.flaws, *broken])
    published = published_counts(found)
    wrong = [count for count in found.counts if not count.right]
    plain = {
        "layout": found.layout,
        "counts": [count._asdict() for count in found.counts],
        "published": [count._asdict() for count in published],
        "notes": found.notes,
        "problems": problems,
    }
    right = len(found.counts) - len(wrong)
    said = f", {right} of {len(found.counts)} counts as it says itself" * bool(found.counts)
    lines = [
        *_beside_published(wrong),
        *_beside_published(published, judged=False),
        *map(escape, found.notes),
        *(f"[red]{escape(problem)}[/]" for problem in problems),
        f"{found.layout}: {len(found.periods)} periods{said}, {tic_images(found):,} images read in "
        f"full, {len(problems)} problems",
    ]
    _say(plain, lines, as_json=as_json, ok=not wrong and not problems)


def _clad(root: Path, *, published: bool, as_json: bool) -> None:
    soda = read_soda(root)
    found = counts(soda) if published else []
    with reading(clad_images(soda), "images") as progress:
        problems = check_clad(soda, progress)
    wrong = [count for count in found if not count.right]
    lines: list[RenderableType] = [*_beside_published(found)]
    if found:
        lines.append(f"{len(found) - len(wrong)} of {len(found)} counts as published")
    lines += [f"[red]{escape(problem)}[/]" for problem in problems]
    lines.append(f"{clad_images(soda):,} images read in full, {len(problems)} problems")
    plain = {"counts": [count._asdict() for count in found], "problems": problems}
    _say(plain, lines, as_json=as_json, ok=not wrong and not problems)


def _beside_published(found: Sequence[Count], *, judged: bool = True) -> Iterator[RenderableType]:
    """Yield a table of counts, if there are any."""
    if not found:
        return
    table = Table(box=None, padding=(0, 2))
    for column in ("published in", "what", "expected", "found"):
        table.add_column(column, justify="right" if column in ("expected", "found") else "left")
    for count in found:
        style = "red" if judged and not count.right else ""
        numbers = (f"{count.expected:,}", f"{count.found:,}")
        table.add_row(count.source, count.what, *numbers, style=style)
    yield table


def _say(plain: Any, lines: Iterable[RenderableType], *, as_json: bool, ok: bool) -> None:
    """Print what was found, as JSON or for people; end with exit code 2 if not all is well."""
    if as_json:
        print_json(plain)
    else:
        screen = console()
        for line in lines:
            screen.print(line, soft_wrap=isinstance(line, str))
    if not ok:
        raise typer.Exit(2)


_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


def _print(report: Report, *, as_json: bool) -> None:
    lines = []
    for finding in report:
        style = _STYLES[finding.status]
        lines.append(f"[{style}]{finding.status:8}[/] {escape(finding.sentence)}")
        if finding.detail:
            lines.append(f"         [dim]{escape(finding.detail)}[/]")
    lines.append(
        f"{report.kind} {report.subject}: {len(report.passed)} checks passed, "
        f"{len(report.failed)} failed, {len(report.skipped)} skipped"
    )
    _say(report.to_json(), map(Text.from_markup, lines), as_json=as_json, ok=report.ok)
