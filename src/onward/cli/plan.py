"""``onward plan``: how often to update, with which method, and what it costs."""

from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console, print_json
from onward.cli.options import AsJson, page_file
from onward.planning.costs import Costs
from onward.planning.drift import class_mix_drift, read_drift
from onward.planning.history import read_history
from onward.planning.plan import FALLS, make_plan
from onward.planning.terminal import policies_table, sentences


def plan(
    results: Annotated[
        list[Path], typer.Argument(help="Results folders, or single runs' folders, of one stream.")
    ],
    *,
    update_cost: Annotated[float, typer.Option(help="What one update costs.")],
    loss_cost: Annotated[float, typer.Option(help="What a lost point costs in one period.")],
    cost_per_cpu_hour: Annotated[
        float, typer.Option(help="What an hour of a processor costs, beside that.")
    ] = 0.0,
    delay: Annotated[
        int | None,
        typer.Option(help="By how many periods labels come late. Default: as in the runs."),
    ] = None,
    drift: Annotated[
        Path | None,
        typer.Option(help="Distances between periods as JSON. Default: of the class mix."),
    ] = None,
    drift_measure: Annotated[
        str | None, typer.Option(help="Which number of that file. Default: the first.")
    ] = None,
    drift_threshold: Annotated[
        list[float] | None,
        typer.Option(help="Update if drift is above this. May be repeated. Default: quartiles."),
    ] = None,
    fall: Annotated[
        list[float] | None,
        typer.Option(
            help="Update if the measured score has fallen by so many points. May be repeated. "
            f"Default: {', '.join(f'{points:g}' for points in FALLS)}."
        ),
    ] = None,
    below: Annotated[
        list[float] | None,
        typer.Option(help="Update if the measured score is below, in percent. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page with pictures.", callback=page_file)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say when to update a model, with which method, and what that costs.

    Policies are replayed on the score matrices of runs: never, every k periods, when drift is above
    a threshold, when the measured score has fallen. Run folders are all that is read.
    """
    costs = Costs(update_cost, loss_cost, cost_per_cpu_hour)
    history = read_history(results)
    if drift is None:
        known = class_mix_drift(history.card, history.periods)
    else:
        known = read_drift(drift, history.periods, drift_measure)
    found = make_plan(
        history,
        costs,
        delay=delay,
        drift=known,
        drift_thresholds=drift_threshold or (),
        falls=FALLS if fall is None else fall,
        below=below or (),
    )
    if out is not None:
        from onward.planning.page import write_plan_page  # drawings: heavy

        write_plan_page(found, out)
    if as_json:
        print_json(found.as_json())
        return
    screen = console()
    for sentence in sentences(found):
        screen.print(sentence, markup=False, soft_wrap=True)
    screen.print()
    screen.print(policies_table(found))
    for line in found.assumptions:
        screen.print(f"- {line}", markup=False, soft_wrap=True, style="dim")
    for line in history.left_out:
        screen.print(f"left out: {line}", markup=False, soft_wrap=True)
    if out is not None:
        screen.print(f"the page: {out}", markup=False, soft_wrap=True)
