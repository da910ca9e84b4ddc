"""``make_plan``: what every policy would have cost, and which one to take."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.metrics.paired import Verdict, compare
from onward.planning.assumptions import assumptions
from onward.planning.costs import Costs
from onward.planning.drift import Drift
from onward.planning.history import History
from onward.planning.intervals import Interval, interval
from onward.planning.policies import Below, Drifts, Every, Falls, Never, Policy
from onward.planning.replay import Replayed, Timing, replay
from onward.planning.staleness import Stale, staleness

FALLS = (1.0, 2.0, 5.0)
"""By how many points a measured score may fall, where nobody says how many."""
_KINDS = ("never", "every", "drift", "fall", "below")


@dataclass(frozen=True, eq=False)
class Priced:
    """A method under a policy: numbers are means over seeds, ``totals`` one for each.

    ``over_time`` is what was spent up to each served period. ``missing`` says what of the history
    it would have needed; it then has no cost.
    """

    method: str
    policy: Policy
    updates: float
    update_cost: float
    loss_cost: float
    lost_points: float
    totals: NDArray[np.float64]
    over_time: NDArray[np.float64]
    missing: str | None = None

    @property
    def total(self) -> float:
        """The mean over seeds."""
        return float(self.totals.mean())

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the mean over seeds."""
        return None if self.missing else interval(self.totals)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.method}, {self.policy.name}"


@dataclass(frozen=True, eq=False)
class Plan:
    """What policies would have cost, the cheapest first, and what that rests on."""

    history: History
    costs: Costs
    timing: Timing
    reference: str
    policies: tuple[Priced, ...]
    staleness: dict[str, list[Stale]]
    assumptions: tuple[str, ...]

    @property
    def best(self) -> Priced:
        """The policy with the lowest mean cost."""
        return self.policies[0]

    def against(self, other: Priced) -> Verdict:
        """Say whether the recommended policy is cheaper than another, seed by seed."""
        same_rows = self.history.same_rows
        return compare(self.best.totals, other.totals, higher_is_better=False, same_rows=same_rows)

    @property
    def undecided(self) -> list[Priced]:
        """Those that the seeds cannot tell from the recommended one."""
        others = [one for one in self.policies[1:] if one.missing is None]
        return [one for one in others if self.against(one).answer == "cannot tell"]

    def best_of_each_kind(self) -> list[Priced]:
        """Return the cheapest policy of each kind for the recommended method, where it has one."""
        mine = [p for p in self.policies if p.method == self.best.method and p.missing is None]
        cheapest = {one.policy.kind: one for one in reversed(mine)}
        return [cheapest[kind] for kind in _KINDS if kind in cheapest]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        best, undecided = self.best, self.undecided
        return {
            "recommendation": {
                **_plain(best),
                "cost": best.total,
                "seeds": len(self.history.seeds),
                "cannot_be_told_from": [
                    {"method": one.method, "policy": one.policy.name} for one in undecided
                ],
            },
            "setting": self.history.setting,
            "seeds": list(self.history.seeds),
            "periods": [self.history.periods[at] for at in self.timing.served],
            "costs": vars(self.costs),
            "delay": self.timing.delay,
            "reference": self.reference,
            "staleness": {
                method: [
                    {
                        "distance": one.distance,
                        "loss": one.loss,
                        "low": one.interval[0] if one.interval else None,
                        "high": one.interval[1] if one.interval else None,
                        "cells": one.cells,
                    }
                    for one in curve
                ]
                for method, curve in self.staleness.items()
            },
            "policies": [
                {**_plain(one), "answer": self._answer(one), "over_time": one.over_time.tolist()}
                if one.missing is None
                else {"method": one.method, "policy": one.policy.name, "missing": one.missing}
                for one in self.policies
            ],
            "assumptions": list(self.assumptions),
            "left_out": list(self.history.left_out),
        }

    def _answer(self, one: Priced) -> str:
        """Say what the recommended one is, compared with this one."""
        return "recommended" if one is self.best else self.against(one).answer


def make_plan(
    history: History,
    costs: Costs,
    *,
    delay: int | None = None,
    drift: Drift | None = None,
    drift_thresholds: Sequence[float] = (),
    falls: Sequence[float] = FALLS,
    below: Sequence[float] = (),
) -> Plan:
    """Replay policies on the score matrices of runs, and price them.

    Parameters
    ----------
    history
        The runs, see `onward.planning.history.read_history`.
    costs
        What an update, a lost point and a processor cost.
    delay
        By how many periods labels come late; by default as in the runs.
    drift
        How far periods are from each other, for policies that go by it.
    drift_thresholds
        From which drift on to update; by default the quartiles of all.
    falls
        By how many points a measured score may fall before an update.
    below
        Below which measured score, in points, to update.
    """
    timing = _timing(history, delay)
    reference = _best_method(history, timing)
    policies = _policies(timing, drift, drift_thresholds, falls, below)
    best_scores = [_fresh(R, timing) for R in history.scores[reference]]
    priced = [
        _price(history, method, policy, costs, timing, drift, best_scores)
        for method in history.scores
        for policy in policies
    ]
    if all(one.missing for one in priced):
        raise OnwardError(
            f"expected one policy or more whose scores are all there, found none: {priced[0].name} "
            f"lacks {priced[0].missing}. Finish the runs, or test later periods too"
        )
    kinds = ("never", "every", "fall", "below", "drift")
    # Of two that cost the same, the one that is easier to explain.
    priced.sort(
        key=lambda one: (
            one.missing is not None,
            round(one.total, 9) if one.missing is None else 0.0,
            kinds.index(one.policy.kind),
        )
    )
    return Plan(
        history=history,
        costs=costs,
        timing=timing,
        reference=reference,
        policies=tuple(priced),
        staleness={method: staleness(scores) for method, scores in history.scores.items()},
        assumptions=tuple(assumptions(history, costs, timing, reference, drift)),
    )


def _timing(history: History, delay: int | None) -> Timing:
    inside, periods = history.label_delay, len(history.periods)
    delay = inside if delay is None else delay
    if inside and delay != inside:
        raise OnwardError(
            f"expected a delay of {inside}, with which these runs were made, found {delay}. Run "
            f"with --label-delay {delay}, or without one"
        )
    if not 0 <= delay <= periods - 2:
        raise OnwardError(
            f"expected a delay of 0 to {periods - 2} periods, since there are {periods}, found "
            f"{delay}"
        )
    return Timing(periods, delay, inside=bool(inside))


def _policies(
    timing: Timing,
    drift: Drift | None,
    drift_thresholds: Sequence[float],
    falls: Sequence[float],
    below: Sequence[float],
) -> list[Policy]:
    for words, values in (
        ("a drift to update at", drift_thresholds),
        ("a fall in points to update at", falls),
        ("a score in percent to update below", below),
    ):
        wrong = [value for value in values if not math.isfinite(value)]
        if wrong:
            raise OnwardError(f"expected {words}, found {wrong[0]}")
    if drift_thresholds and drift is None:
        raise OnwardError(
            "expected distances between periods to hold against a threshold, found none: the "
            "stream's card has no mix of classes. Give them with --drift FILE"
        )
    # The first model is everybody's: as many decisions are left as periods behind its first.
    most = len(timing.served)
    found: list[Policy] = [Never(), *(Every(periods) for periods in range(1, most))]
    if drift is not None:
        found += [Drifts(value) for value in drift_thresholds or drift.thresholds]
    found += [Falls(points) for points in falls]
    found += [Below(score) for score in below]
    return found


def _fresh(R: NDArray[np.float64], timing: Timing) -> NDArray[np.float64]:
    return replay(Every(1), R, timing).scores


def _best_method(history: History, timing: Timing) -> str:
    """Return the method whose freshest models are best in the periods after them."""
    means = {
        method: float(np.mean([_fresh(R, timing) for R in scores]))
        for method, scores in history.scores.items()
    }
    known = {method: mean for method, mean in means.items() if not math.isnan(mean)}
    if not known:
        raise OnwardError(
            "expected a method that was tested on the period after each that it had learned, found "
            "none. Finish the runs, or run the protocol streaming or iid"
        )
    return max(known, key=known.__getitem__)


def _price(
    history: History,
    method: str,
    policy: Policy,
    costs: Costs,
    timing: Timing,
    drift: Drift | None,
    reference: Sequence[NDArray[np.float64]],
) -> Priced:
    replayed = [replay(policy, R, timing, drift) for R in history.scores[method]]
    each = costs.update + costs.cpu_hour * history.cpu_hours[method]
    lost = np.stack([best - one.scores for best, one in zip(reference, replayed, strict=True)])
    # An update is paid for before the period that it serves in first.
    paid = np.array([[float(at - 1 in one.updated) for at in timing.served] for one in replayed])
    spent = each * paid + costs.loss * lost
    return Priced(
        method=method,
        policy=policy,
        updates=float(paid.sum(axis=1).mean()),
        update_cost=float(each * paid.sum(axis=1).mean()),
        loss_cost=float(costs.loss * lost.sum(axis=1).mean()),
        lost_points=float(lost.mean()),
        totals=spent.sum(axis=1),
        over_time=spent.cumsum(axis=1).mean(axis=0),
        missing=_missing(replayed, history, timing),
    )


def _missing(replayed: Sequence[Replayed], history: History, timing: Timing) -> str | None:
    for one in replayed:
        for row, period, score in zip(one.rows, timing.served, one.scores, strict=True):
            if np.isnan(score):
                return (
                    f"the score in {history.periods[period]} of the model of {history.periods[row]}"
                )
        if one.unknown:
            return f"the drift up to {history.periods[one.unknown[0]]}"
    return None


def _plain(one: Priced) -> dict[str, Any]:
    return {
        "method": one.method,
        "policy": one.policy.name,
        "kind": one.policy.kind,
        "every": one.policy.periods if isinstance(one.policy, Every) else None,
        "threshold": one.policy.threshold,
        "updates": one.updates,
        "update_cost": one.update_cost,
        "loss_cost": one.loss_cost,
        "lost_points_per_period": one.lost_points,
        "total": one.total,
        "interval": None if one.interval is None else list(one.interval),
    }
