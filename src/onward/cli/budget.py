"""``onward budget``: what it would cost, before anything runs."""

from typing import Annotated, Any

import typer
from rich.table import Table

from onward.benchmarks import BENCHMARKS
from onward.benchmarks.compute import ComputeBudget, MethodCost
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.errors import OnwardError, unknown
from onward.learners import fitting
from onward.reproduce.words import duration

# For --help, which must not depend on other packages.
_BUDGETED = {name: listed.budgets for name, listed in BENCHMARKS.own.items() if listed.budgets}
_DATA = [data for budgets in _BUDGETED.values() for data in budgets]


def budget(
    benchmark: Annotated[str, typer.Argument(help=f"Which benchmark: {', '.join(_BUDGETED)}.")],
    *,
    data: Annotated[
        str, typer.Option(help=f"Which data, or which scale of the paper: {', '.join(_DATA)}.")
    ] = "emoji",
    recipe: Annotated[str, typer.Option(help="cpu or paper; of datacomp-m also released.")] = "cpu",
    measure: Annotated[
        bool,
        typer.Option(
            help="Measure this machine for a few seconds, to tell how long it would take."
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Print what every method costs: steps, pairs, multiply-accumulates, time on this machine.

    Compute is counted as the paper does: forward multiply-accumulates of both towers, times pairs.
    Nothing is trained and no data is needed.
    """
    budgets = BENCHMARKS.find(benchmark).budgets
    if not budgets:
        raise OnwardError(
            "expected a benchmark whose protocol is a budget of compute, such as "
            f"{' or '.join(_BUDGETED)}, found {benchmark}"
        )
    if data not in budgets:
        raise unknown(f"data of {benchmark}", data, budgets, "onward budget --help")
    found = budgets[data](recipe)
    others = _not_budgeted(benchmark, found)
    speed = None
    if measure:
        from onward.train.speed import macs_a_second  # torch, which counting does not need

        speed = macs_a_second(found.recipe.model)
    if as_json:
        print_json({"benchmark": benchmark, **_plain(found, speed), "not_budgeted": others})
    else:
        _print(benchmark, found, others, speed)


def _plain(found: ComputeBudget, speed: float | None) -> dict[str, Any]:
    return {
        "data": found.data,
        "title": found.title,
        "recipe": found.recipe_name,
        "model": found.recipe.model,
        "periods": found.periods,
        "batch_size": found.recipe.batch_size,
        "iterations": (found.recipe.max_steps or 0) * found.periods,
        "macs_per_pair": found.pair_macs,
        "macs": found.macs,
        "published_macs": found.published,
        "macs_per_second": speed,
        "methods": {cost.method: _method(cost, found, speed) for cost in found.methods},
    }


def _method(cost: MethodCost, found: ComputeBudget, speed: float | None) -> dict[str, Any]:
    return {
        "published_name": cost.published,
        "iterations": sum(period.iterations for period in cost.periods),
        "samples": sum(period.pairs for period in cost.periods),
        "macs": cost.macs,
        "times_budget": cost.macs / found.macs,
        "times_budget_by_the_paper": cost.paper_times,
        "seconds": None if speed is None else cost.work / speed,
        "periods": [
            {
                "iterations": each.iterations,
                "samples": each.pairs,
                "macs": each.macs,
                "seconds": None if speed is None else each.work / speed,
            }
            for each in cost.periods
        ],
    }


def _print(benchmark: str, found: ComputeBudget, others: list[str], speed: float | None) -> None:
    screen = console()
    recipe = found.recipe
    screen.print(
        f"[bold]{benchmark}[/], {found.title}, recipe {found.recipe_name}: {found.periods} periods "
        f"of {recipe.max_steps or 0:,} steps with {recipe.batch_size:,} pairs; {recipe.model}, "
        f"{found.pair_macs / 1e9:.4g} G multiply-accumulates a pair"
    )
    published = ""
    if found.published is not None:
        away = found.published / found.macs - 1
        published = f"; published, rounded: {found.published:.1e}, {away:+.1%}"
    screen.print(f"the budget is {found.macs:.3e} multiply-accumulates{published}")
    table = Table(box=None, padding=(0, 1))
    for heading in ("method", "in the paper"):
        table.add_column(heading, no_wrap=True)
    for heading in ("steps a period", "MACs a period", "MACs in all", "budget"):
        table.add_column(heading, justify="right", no_wrap=True)
    if speed is not None:
        table.add_column("time here", justify="right", no_wrap=True)
    for cost in found.methods:
        row = [
            cost.method,
            cost.published or "",
            _range([f"{period.iterations:,}" for period in cost.periods]),
            _range([_short(period.macs) for period in cost.periods]),
            _short(cost.macs),
            f"{cost.macs / found.macs:.2f}x",
        ]
        table.add_row(*row, *([] if speed is None else [duration(cost.work / speed)]))
    screen.print(table)
    for remark in found.remarks:
        screen.print(remark)
    screen.print(f"not budgeted, though they learn from {benchmark}: {', '.join(others)}")
    if speed is not None:
        screen.print(
            f"time: one core does {speed / 1e9:.3g} G multiply-accumulates a second on this model, "
            "measured now; tests are not part of it"
        )


def _not_budgeted(benchmark: str, found: ComputeBudget) -> list[str]:
    """Return the methods that run, and of which nobody has said what they spend."""
    told = {cost.method for cost in found.methods}
    return [name for name in fitting(*BENCHMARKS[benchmark].lacking) if name not in told]


def _range(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else f"{values[0]}\N{EN DASH}{values[-1]}"


def _short(macs: float) -> str:
    return f"{macs:.1e}".replace("e+", "e")
