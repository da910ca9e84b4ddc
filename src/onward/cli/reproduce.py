"""``onward reproduce``: a published table by command."""

import time
from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console, print_json
from onward.cli.options import AsJson, parse_seeds
from onward.cli.progress import resumable
from onward.cli.runs import live, with_execution
from onward.cli.voice import only_once
from onward.configs import TABLES
from onward.errors import OnwardError
from onward.executors.executor import Execution
from onward.executors.local import LocalExecutor
from onward.reproduce.engine import reproduce as run_plan
from onward.reproduce.plan import plan
from onward.reproduce.terminal import render
from onward.reproduce.words import duration
from onward.sweep import benchmark_of, requested


@with_execution
def reproduce(
    table: Annotated[str, typer.Argument(help="A published table: onward list tables.")],
    *,
    data: Annotated[
        str | None,
        typer.Option(
            help="Which data: emoji, or street for clad, or the folder of an official download."
        ),
    ] = None,
    recipe: Annotated[str, typer.Option(help="How it is trained: cpu or paper.")] = "cpu",
    out: Annotated[Path, typer.Option(help="Where results, table and pictures go.")] = Path(
        "reproduced"
    ),
    seeds: Annotated[
        str | None,
        typer.Option(help="Such as 0-4, for all rows; by default what rows and claims need."),
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(help='A row, or a pattern such as "linear/*". May be repeated.'),
    ] = None,
    execution: Execution,
    as_json: AsJson = False,
) -> None:
    """Make a published table again: ours beside theirs, and what the paper claims, checked.

    A run that is complete is not run again. After Ctrl-C or a kill, the same command goes on
    where it stopped.
    """
    wanted = TABLES.find(table)
    given = None if seeds is None else parse_seeds(seeds)
    data = data or wanted.usual
    planned = plan(wanted, data, recipe, rows=rows or (), seeds=given)
    if not planned.planned:
        reasons = "; ".join(planned.left_out())
        raise OnwardError(f"none of these rows can be run on {data}: {reasons}")
    workers = execution.get("workers") or 1
    if execution.get("on") == "local":
        jobs = [job for each in planned.planned for job in each.jobs()]
        gpus = execution.get("gpus_per_job")
        request = requested(jobs, workers=execution.get("workers"), gpus_per_job=gpus)
        workers = LocalExecutor(request).workers
    first = planned.planned[0]
    periods = len(benchmark_of(first.run.source).stream(first.repetitions[0]))
    typer.echo(
        f"{wanted.name}: runs to make or to find: {planned.runs}; if none is there yet, about "
        f"{duration(planned.seconds / workers)} with --jobs {workers}",
        err=True,
    )
    begun = time.monotonic()
    with resumable(out), live(planned.runs, periods) as watch:
        outcome = run_plan(planned, out / "results", watch=watch, **execution)
    only_once()
    from onward.reproduce.files import to_json, write  # drawings: heavy

    files = write(outcome, out)
    if as_json:
        print_json(to_json(outcome))
        return
    screen = console()
    screen.print(render(outcome))
    screen.print()
    took = duration(time.monotonic() - begun)
    screen.print(
        f"{took} for {planned.runs} runs, new or found; {len(files)} files in {out}:",
        soft_wrap=True,
    )
    screen.print(f"  {', '.join(path.name for path in files[:2])}, pictures, results/")
