"""A plan for the terminal: a sentence or two, and a table of what policies would have cost."""

from collections.abc import Iterator

from rich.table import Table

from onward.planning.intervals import Interval
from onward.planning.plan import Plan, Priced
from onward.planning.policies import Every, Never
from onward.report.numbers import MISSING
from onward.report.plain_table import plain_table
from onward.report.words import decision, joined, seeds, votes

_MOST_ROWS = 15


def money(value: float) -> str:
    """Write an amount as short as it can be read.

    Examples
    --------
    >>> money(1234.5), money(12.345), money(-0.2)
    ('1,234', '12.3', '-0.2')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def between(found: Interval) -> str:
    """Write an interval.

    Examples
    --------
    >>> between((1.0, 2.5)), between(None)
    ('1 to 2.5', '–')
    """
    return MISSING if found is None else f"{money(found[0])} to {money(found[1])}"


def sentences(plan: Plan) -> Iterator[str]:
    """Yield what to do, how sure that is, and what it is compared with."""
    best = plan.best
    sure = f", 95 % interval {between(best.interval)}" if best.interval else ""
    yield (
        f"Train with {best.method}, update: {best.policy.name}. Over {len(plan.timing.served)} "
        f"periods that costs {money(best.total)}{sure}: {money(best.update_cost)} for "
        f"{_times(best.updates)} and {money(best.loss_cost)} for {best.lost_points:.2f} lost "
        "points a period."
    )
    undecided = plan.undecided
    if undecided:
        names = joined([one.name.replace(", ", " ") for one in undecided])
        yield f"{seeds(len(plan.history.seeds))} cannot tell it from {names}."
    elif len(plan.policies) > 1:
        yield f"It is cheaper than every other one, as {seeds(len(plan.history.seeds))} decide."
    for other in plan.policies:
        usual = other.method == best.method and other.policy in (Never(), Every(1))
        if usual and other is not best and other.missing is None:
            more = money(other.total - best.total)
            what = f"Updating {other.policy.name}" if other.updates else "Never updating"
            yield f"{what} would have cost {more} more: {_sure(plan, other)}."


def _sure(plan: Plan, other: Priced) -> str:
    found = plan.against(other)
    return f"{votes(found)}, {decision(found)}"


def _times(updates: float) -> str:
    return "1 update" if updates == 1 else f"{updates:.3g} updates"


def policies_table(plan: Plan) -> Table:
    """Return what the cheapest policies would have cost, and the best of each kind."""
    result = plain_table(plan.history.setting)
    for heading in ("method", "update"):
        result.add_column(heading, no_wrap=True)
    for heading in ("updates", "for\nupdates", "for lost\npoints", "total", "95 %\ninterval"):
        result.add_column(heading, justify="right", no_wrap=True)
    result.add_column("against\nthe first")
    for one in shown(plan, _MOST_ROWS):
        result.add_row(*cells(plan, one), style="bold" if one is plan.best else "")
    return result


def cells(plan: Plan, one: Priced, best: str = "") -> list[str]:
    """Return what is told of a policy; of the recommended one, ``best`` in place of a verdict."""
    if one.missing is not None:
        return [one.method, one.policy.name, *[MISSING] * 5, f"lacks {one.missing}"]
    costs = map(money, (one.update_cost, one.loss_cost, one.total))
    told = [f"{one.updates:.3g}", *costs, between(one.interval), _verdict(plan, one) or best]
    return [one.method, one.policy.name, *told]


def shown(plan: Plan, most: int) -> list[Priced]:
    """Return the policies to show: the cheapest, and the best of each kind for the best method."""
    kept = [one for one in plan.policies[:most] if one.missing is None]
    kept += [one for one in plan.best_of_each_kind() if one not in kept]
    kept += [one for one in plan.policies if one.missing is not None][:3]
    return kept


def _verdict(plan: Plan, one: Priced) -> str:
    """Say how a policy does against the recommended one."""
    if one is plan.best:
        return ""
    answer = plan.against(one).answer
    # The verdict is about the recommended one: if that is better, this one is dearer.
    return {"better": "dearer", "worse": "cheaper"}.get(answer, answer)
