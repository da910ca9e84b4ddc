"""What keeping CLIP fresh costs, before anything is run: steps, pairs and work by method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from onward.benchmarks.compute import ComputeBudget, MethodCost, PeriodCost
from onward.benchmarks.tic_emoji import SNAPSHOTS
from onward.benchmarks.tic_recipes import (
    BOTH_WAYS,
    PAIR_MACS,
    SCALES,
    USUAL_MORE,
    USUAL_SCALE,
    macs_of_a_period,
    recipes_of,
)
from onward.errors import unknown
from onward.train.recipe import Recipe

EMOJI = "emoji"


@dataclass(frozen=True)
class Spending:
    """How a method spends what a period allows.

    Parameters
    ----------
    published
        What the paper calls it; None where it is none of the paper's.
    steps
        How many times the recipe's steps it takes in the t-th period, counted from 1.
    looks
        How many times each pair of a batch is counted in the t-th period.
    teacher
        Whether it is a teacher who looks once more, and does not learn; else what is replayed
        counts, which is learned from.
    more
        Whether it is the one that takes so many more steps as the scale says.
    paper
        How many times the budget the paper says it spends, where it counts otherwise.
    """

    published: str | None
    steps: Callable[[int], float] = lambda t: 1.0
    looks: Callable[[int], float] = lambda t: 1.0
    teacher: bool = False
    more: bool = False
    paper: float | None = None


SPENDING: Mapping[str, Spending] = {
    "finetune": Spending("Sequential"),
    "cumulative": Spending("Cumulative-All"),
    "cumulative_exp": Spending("Cumulative-Exp"),
    "cumulative_equal": Spending("Cumulative-Equal"),
    "restart": Spending("Restart"),
    "patching": Spending("Patching"),
    "lwf": Spending("LwF", looks=lambda t: min(t, 2.0), teacher=True, paper=1.2),
    "cumulative_more": Spending("Cumulative-All*", more=True),
    "oracle": Spending("Oracle", steps=float),
    # Half of each batch is replayed once there is something to replay.
    "er": Spending(None, steps=lambda t: 1.0 if t == 1 else 0.5, looks=lambda t: min(t, 2.0)),
    # Every pair is looked at once more for the Fisher information.
    "ewc": Spending(None, steps=lambda t: 0.5, looks=lambda t: 2.0),
    "biased_reservoir": Spending(None),
}


def tic_budget(data: str, recipe: str) -> ComputeBudget:
    """Say what methods cost on ``emoji``, or at one of the paper's scales, by a recipe.

    Examples
    --------
    >>> budget = tic_budget("yfcc", "paper")
    >>> f"{budget.macs:.1e}", budget.published
    ('3.4e+18', 3.4e+18)
    """
    scale = None if data == EMOJI else SCALES[data]
    recipes = recipes_of(data if scale else USUAL_SCALE, None, None)
    if recipe not in recipes:
        raise unknown("recipe", recipe, recipes, "onward budget tic --help")
    chosen = recipes[recipe]
    periods = scale.periods if scale else SNAPSHOTS
    return ComputeBudget(
        data=data,
        title=scale.title if scale else "emoji edition",
        recipe_name=recipe,
        recipe=chosen,
        pair_macs=PAIR_MACS[chosen.model],
        periods=periods,
        macs=macs_of_a_period(chosen) * periods,
        published=scale.published if scale and recipe == "paper" else None,
        methods=tuple(
            _cost(name, chosen, periods, more=scale.more if scale else USUAL_MORE)
            for name in SPENDING
        ),
        remarks=(
            "a teacher's forward pass counts too; by the paper LwF spends "
            f"{SPENDING['lwf'].paper} times the budget. Oracle, LwF and Cumulative-All* exceed it "
            "by definition",
        ),
    )


def _cost(method: str, recipe: Recipe, periods: int, *, more: float) -> MethodCost:
    spending, each = SPENDING[method], PAIR_MACS[recipe.model]
    costs = []
    for t in range(1, periods + 1):
        times = more if spending.more else spending.steps(t)
        steps = round((recipe.max_steps or 0) * times)
        pairs = steps * recipe.batch_size
        looks = round(pairs * spending.looks(t))
        learned = pairs if spending.teacher else looks
        work = (looks + (BOTH_WAYS - 1) * learned) * each
        costs.append(PeriodCost(steps, learned, looks * each, work))
    return MethodCost(method, spending.published, tuple(costs), spending.paper)
