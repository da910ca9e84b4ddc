"""``onward tune``: choose hyperparameters without looking ahead."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from onward.benchmarks import Source
from onward.cli.console import console
from onward.cli.options import AsJson, parse_budget, parse_grid, parse_seeds
from onward.cli.progress import resumable
from onward.cli.runs import AllowUnmetered, Seeds, live, with_execution
from onward.cli.source import with_source
from onward.executors.executor import Execution
from onward.tuning import COUNTED, Tuned
from onward.tuning import tune as choose_settings


@with_source
@with_execution
def tune(
    *,
    source: Source,
    method: Annotated[
        str, typer.Option(help="A method (onward list methods) or path/to/file.py:Name.")
    ],
    grid: Annotated[
        list[str],
        typer.Option(
            help="Values to try, name=a,b,c: an option of the method or a number of the recipe, "
            "such as lr=0.1,0.3,1. May be repeated."
        ),
    ],
    first: Annotated[int, typer.Option(min=1, help="How many periods may be used.")] = 3,
    seeds: Seeds = "0",
    budget: Annotated[
        list[str] | None,
        typer.Option(help=f"What it may cost in all, such as runs=20: {', '.join(COUNTED)}."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where tuned.json and its runs go.")] = Path("tuned"),
    allow_unmetered: AllowUnmetered = False,
    execution: Execution,
    as_json: AsJson = False,
) -> None:
    """Choose hyperparameters on the first periods only, and write down what that cost.

    A part of what these periods train on is held out to choose by; test samples and later periods
    are never touched. Use the choice with: onward run ... --tuned DIR
    """
    values, chosen_seeds = parse_grid(grid), parse_seeds(seeds)
    runs = len(chosen_seeds)
    for several in values.values():
        runs *= len(several)
    with resumable(out), live(runs, first) as watch:
        tuned = choose_settings(
            source,
            method,
            values,
            out,
            periods=first,
            seeds=chosen_seeds,
            limits=parse_budget(budget or []),
            allow_unmetered=allow_unmetered,
            watch=watch,
            **execution,
        )
    if as_json:
        typer.echo(tuned.model_dump_json(indent=1))
    else:
        _print(tuned, out)


def _print(tuned: Tuned, out: Path) -> None:
    screen = console()
    table = Table(box=None, padding=(0, 2))
    for name in tuned.grid:
        table.add_column(name)
    table.add_column("score", justify="right")
    table.add_column("CPU s", justify="right")
    chosen = {**tuned.options, **tuned.training}
    for candidate in tuned.candidates:
        style = "bold green" if candidate.settings == chosen else ""
        cells = [str(value) for value in candidate.settings.values()]
        seconds = f"{candidate.spent['cpu_seconds']:.1f}"
        score = "diverged" if candidate.score is None else f"{candidate.score:.4f}"
        table.add_row(*cells, score, seconds, style=style)
    screen.print(table)
    scores = [c.score for c in tuned.candidates if c.score is not None]
    words = ", ".join(f"{name} = {value}" for name, value in chosen.items())
    macs = tuned.spent["macs"]
    arithmetic = "MACs not metered" if macs is None else f"{macs:.3g} MACs"
    screen.print(
        f"chosen on {tuned.periods[0]} to {tuned.periods[-1]}: [bold]{words}[/] "
        f"({max(scores):.4f}), for {tuned.spent['runs']:.0f} runs, "
        f"{tuned.spent['cpu_seconds']:.1f} CPU-seconds and {arithmetic}"
    )
    for name, values in tuned.grid.items():
        numbers = len(values) > 1 and all(isinstance(value, int | float) for value in values)
        if len(set(scores)) > 1 and numbers and chosen[name] in (min(values), max(values)):
            screen.print(f"{name} = {chosen[name]} is at the end of its grid: try a wider one")
    if len(scores) > 1 and len(set(scores)) == 1:
        screen.print("all candidates did alike: these settings made no difference here")
    if tuned.untried:
        screen.print(f"the budget left {tuned.untried} candidates untried")
    screen.print(
        f"use it: onward run {tuned.tuned_for['benchmark']} --method {tuned.method} "
        f"--tuned {out} ..."
    )
