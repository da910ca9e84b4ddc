"""A plan as one page."""

from functools import partial
from pathlib import Path

from onward.planning.pictures import (
    best_of_each_kind,
    cost_by_frequency,
    cost_over_time,
    staleness_curves,
)
from onward.planning.plan import Plan
from onward.planning.terminal import between, cells, money, sentences, shown
from onward.report.content_figures import Numbers, Plot, Studio
from onward.report.rendering import write

_MOST = 25


def write_plan_page(plan: Plan, out: Path) -> None:
    """Write the page of a plan: what to do, what policies would have cost, what that rests on."""
    first, *others = sentences(plan)
    write(
        out,
        "plan.html.j2",
        (),
        title="When to update",
        setting=plan.history.setting,
        answer=first,
        grounds=others,
        figures=_figures(plan),
        head=["method", "update", "updates", "for updates", "for lost points", "total"],
        rows=[cells(plan, one, "recommended") for one in shown(plan, _MOST)],
        assumptions=plan.assumptions,
        left_out=plan.history.left_out,
    )


def _figures(plan: Plan) -> list[Plot]:
    studio = Studio()
    numbers = {method: at for at, method in enumerate(sorted(plan.history.scores))}
    served = [plan.history.periods[at] for at in plan.timing.served]
    by_kind = best_of_each_kind(plan)
    drawn = [
        (
            cost_by_frequency,
            Plot(
                title="Too often, or too seldom",
                caption="What updating every k periods would have cost in all, by method. A ring "
                "is around the recommended policy, where it is one of these.",
                alt=f"Total cost by method; the cheapest is {plan.best.name}, "
                f"{money(plan.best.total)}",
                numbers=Numbers(
                    ["method and policy", "total", "95 % interval"],
                    [
                        [one.name, money(one.total), between(one.interval)]
                        for one in plan.policies
                        if one.missing is None and one.policy.kind in ("every", "never")
                    ],
                ),
            ),
        ),
        (
            cost_over_time,
            Plot(
                title="Spent over time",
                caption=f"What the best policy of each kind would have cost with "
                f"{plan.best.method}, up to each period.",
                alt=", ".join(f"{name} {money(one.total)}" for name, one in by_kind.items()),
                numbers=Numbers(
                    ["policy", *served],
                    [[name, *map(money, one.over_time)] for name, one in by_kind.items()],
                ),
            ),
        ),
        (
            staleness_curves,
            Plot(
                title="Left alone",
                caption="Points that a model is below the freshest one of its method, in the same "
                "periods, by the time since it learned. Bands are 95 % intervals over seeds, where "
                "there are enough.",
                alt="Points lost by distance",
                numbers=Numbers(
                    ["method", "periods", "points", "95 % interval", "cells"],
                    [
                        [
                            method,
                            str(one.distance),
                            f"{one.loss:.2f}",
                            between(one.interval),
                            str(one.cells),
                        ]
                        for method, curve in plan.staleness.items()
                        for one in curve
                    ],
                ),
            ),
        ),
    ]
    return [
        plot for draw, words in drawn for plot in studio.show(partial(draw, plan), words, numbers)
    ]
