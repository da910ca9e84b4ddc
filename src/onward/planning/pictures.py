"""A plan in pictures: cost against how often, cost over time, and the staleness curve."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.planning.plan import Plan, Priced
from onward.planning.policies import Every
from onward.report.labels import label_ends
from onward.report.style import COLOURS, FAINT, canvas, colours, line_of, open_left, ruled, styled

_SIZE = (6.2, 3.7)
_MOST_METHODS = len(COLOURS)


@styled
def cost_by_frequency(plan: Plan) -> Figure:
    """Draw the total cost of every method against the number of periods between two updates."""
    figure, axes = canvas(*_SIZE)
    never = max(len(plan.timing.served), 2)
    ends = {}
    palette = colours(plan.history.scores)
    for method in list(plan.history.scores)[:_MOST_METHODS]:
        points = _by_frequency(plan, method, never)
        if points:
            places, totals = list(points), [one.total for one in points.values()]
            line_of(axes, method, places, totals, palette[method])
            ends[method] = (float(places[-1]), totals[-1])
    best = plan.best
    if best.policy.kind in ("every", "never"):
        at = best.policy.periods if isinstance(best.policy, Every) else never
        axes.plot([at], [best.total], "o", ms=11, mfc="none", mec=palette[best.method], mew=1.6)
    axes.set_xticks(range(1, never + 1), [*(str(k) for k in range(1, never)), "never"])
    axes.set_xlabel("periods between two updates")
    _money(axes, "total cost")
    label_ends(axes, ends, palette, side="right")
    return figure


def _by_frequency(plan: Plan, method: str, never: int) -> dict[int, Priced]:
    found = {}
    for one in plan.policies:
        if one.method == method and one.missing is None:
            if isinstance(one.policy, Every):
                found[one.policy.periods] = one
            elif one.policy.kind == "never":
                found[never] = one
    return dict(sorted(found.items()))


@styled
def cost_over_time(plan: Plan) -> Figure:
    """Draw what the best policy of each kind would have spent up to each period."""
    figure, axes = canvas(*_SIZE)
    shown = best_of_each_kind(plan)
    palette = dict(zip(shown, COLOURS, strict=False))
    places = np.arange(len(plan.timing.served) + 1)
    ends = {}
    for name, one in shown.items():
        values = [0.0, *one.over_time]
        line_of(axes, name, places, values, palette[name])
        ends[name] = (float(places[-1]), values[-1])
    names = [plan.history.periods[at] for at in plan.timing.served]
    every = max(1, len(names) // 8)
    axes.set_xticks(places[1::every], names[::every])
    axes.set_xlabel(f"in service, {plan.best.method}")
    _money(axes, "spent so far")
    label_ends(axes, ends, palette, side="right")
    return figure


def best_of_each_kind(plan: Plan) -> dict[str, Priced]:
    """Return the best policy of each kind for the recommended method, and that of no thought."""
    shown = {one.policy.name: one for one in plan.best_of_each_kind()}
    always = next(
        (
            one
            for one in plan.policies
            if one.method == plan.best.method and one.policy == Every(1) and one.missing is None
        ),
        None,
    )
    return shown if always is None else {**shown, always.policy.name: always}


@styled
def staleness_curves(plan: Plan) -> Figure:
    """Draw what each method's models lose with the time that they are left alone."""
    figure, axes = canvas(*_SIZE)
    palette = colours(plan.history.scores)
    ends = {}
    for method, curve in list(plan.staleness.items())[:_MOST_METHODS]:
        if not curve:
            continue
        places, losses = [one.distance for one in curve], [one.loss for one in curve]
        sure = [one.interval or (one.loss, one.loss) for one in curve]
        low, high = ([pair[side] for pair in sure] for side in (0, 1))
        line_of(axes, method, places, losses, palette[method], (low, high))
        ends[method] = (float(places[-1]), losses[-1])
    axes.set_xticks(range(1, len(plan.history.periods)))
    axes.set_xlabel("periods since it learned")
    _money(axes, "points below the freshest")
    label_ends(axes, ends, palette, side="right")
    return figure


def _money(axes: Axes, label: str) -> None:
    axes.set_ylabel(label)
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), axes.get_ylim()[1])
    axes.axhline(0, color=FAINT, lw=0.8)
    ruled(axes)
    open_left(axes)
