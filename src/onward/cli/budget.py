"""``onward budget``: what it would cost, before anything runs."""

from typing import Annotated, Any

import typer
from rich.table import Table

from onward.benchmarks.tic_budget import EMOJI, SPENDING, MethodCost, TicBudget, tic_budget
from onward.benchmarks.tic_recipes import SCALES
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.errors import OnwardError
from onward.grid import grid
from onward.reproduce.words import duration

# The one benchmark whose protocol is a budget of compute.
_BUDGETED = "tic"


def budget(
    benchmark: Annotated[str, typer.Argument(help="Which benchmark: tic.")],
    *,
    data: Annotated[
        str, typer.Option(help=f"{EMOJI}, or a scale of the paper: {', '.join(SCALES)}.")
    ] = EMOJI,
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
    if benchmark != _BUDGETED:
        raise OnwardError(
            f"expected {_BUDGETED}, whose protocol is a budget of compute, found {benchmark!r}"
        )
    found = tic_budget(data, recipe)
    speed = None
    if measure:
        from onward.train.speed import macs_a_second  # torch, which counting does not need

        speed = macs_a_second(found.recipe.model)
    if as_json:
        print_json(_plain(found, speed))
    else:
        _print(found, speed)


def _plain(found: TicBudget, speed: float | None) -> dict[str, Any]:
    return {
        "benchmark": "tic",
        "data": found.data,
        "title": found.title,
        "recipe": found.recipe_name,
        "model": found.recipe.model,
        "periods": found.periods,
        "batch_size": found.recipe.batch_size,
        "iterations": (found.recipe.iterations or 0) * found.periods,
        "macs_per_pair": found.pair_macs,
        "macs": found.macs,
        "published_macs": found.published,
        "macs_per_second": speed,
        "methods": {cost.method: _method(cost, found, speed) for cost in found.methods},
        "not_budgeted": _not_budgeted(),
    }


def _method(cost: MethodCost, found: TicBudget, speed: float | None) -> dict[str, Any]:
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


def _print(found: TicBudget, speed: float | None) -> None:
    screen = console()
    recipe = found.recipe
    screen.print(
        f"[bold]tic[/], {found.title}, recipe {found.recipe_name}: {found.periods} periods of "
        f"{recipe.iterations or 0:,} steps with {recipe.batch_size:,} pairs; {recipe.model}, "
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
    screen.print(
        "a teacher's forward pass counts too; by the paper LwF spends "
        f"{SPENDING['lwf'].paper} times the budget. Oracle, LwF and Cumulative-All* exceed it by "
        "definition"
    )
    screen.print(f"not budgeted, though they learn from tic: {', '.join(_not_budgeted())}")
    if speed is not None:
        screen.print(
            f"time: one core does {speed / 1e9:.3g} G multiply-accumulates a second on this model, "
            "measured now; tests are not part of it"
        )


def _not_budgeted() -> list[str]:
    """Return the methods that run, and of which nobody has said what they spend."""
    there = [cell.method for cell in grid() if cell.benchmark == _BUDGETED and cell.runs]
    return [method for method in there if method not in SPENDING]


def _range(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else f"{values[0]}\N{EN DASH}{values[-1]}"


def _short(macs: float) -> str:
    return f"{macs:.1e}".replace("e+", "e")
