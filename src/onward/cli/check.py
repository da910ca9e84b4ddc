"""``onward check``: prove it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from onward.benchmarks import BENCHMARKS, Source
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
from onward.checks.data import rows_to_read
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_editions import tiny_for, tiny_like
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.cli.source import with_data, with_source
from onward.data.counts import Count
from onward.data.gaps import write_names
from onward.data.inspection import Inspection
from onward.errors import OnwardError, unknown
from onward.methods import METHODS
from onward.protocols import DOMAINS
from onward.results.check_many import check_results
from onward.results.keys import known_keys, read_keys
from onward.results.read import find_folders


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


def metric(
    name: Annotated[str, typer.Argument(help="A metric, see: onward list metrics.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check that a metric is a pure function from a score matrix to a number within its bounds.

    Exit code 0 if all is well, 2 otherwise.
    """
    _print(check_metric(name, raise_on_failure=False), as_json=as_json)


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
    named, inspect = _named_data(source, root), BENCHMARKS[source.benchmark].inspect
    if inspect is not None:
        found = inspect(named, source.options)
        _inspected(found, listed, as_json=as_json)
        return
    if listed is not None:
        listing = [name for name in BENCHMARKS if BENCHMARKS[name].inspect is not None]
        raise OnwardError(
            f"expected --list with the data of {' or '.join(listing)}, found {source.benchmark}'s"
        )
    problems: list[dict[str, Any]] = []
    try:
        made = source.load()
    except OnwardError as error:
        # What is missing is one finding among others: the rest is read all the same.
        problems.append({"row": None, "id": None, "column": None, "problem": str(error)})
        takes = signature(BENCHMARKS[source.benchmark].load).parameters
        skips = "missing" in takes and Path(source.data).expanduser().exists()
        if not skips or source.options.get("missing") == "skip":
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


def _named_data(source: Source, root: Path | None) -> str:
    """Return which data is meant; the name of a family stands for the folder that is given."""
    name, content = BENCHMARKS[source.benchmark].official or (None, None)
    if source.data != name:
        if root is not None:
            raise OnwardError(
                f"expected --root with the name of official data, found it with {source.data}"
            )
        return source.data
    if root is None:
        raise OnwardError(
            f"expected the folder that holds {content}. Say where it is: onward "
            f"check data {source.data} --root DIR"
        )
    return str(root)


def _inspected(found: Inspection, listed: Path | None, *, as_json: bool) -> None:
    with reading(found.images, "images") as progress:
        broken = found.read(progress)
    if listed is not None:
        write_names(listed, [*found.flaws, *broken])
    plain = found.as_json(broken)
    problems = plain["problems"]
    looked = f"{found.images:,} images read in full, {len(problems)} problems"
    lines = [
        *_beside_published(found.shown),
        *_beside_published(found.published, judged=False),
        *map(escape, found.notes),
        *(f"[red]{escape(problem)}[/]" for problem in problems),
        f"{found.agreed}, {looked}" if found.agreed else looked,
    ]
    _say(plain, lines, as_json=as_json, ok=not found.wrong and not problems)


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
