import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.planning.costs import Costs
from onward.planning.drift import Drift, class_mix_drift, read_drift
from onward.planning.history import History
from onward.planning.page import write_plan_page
from onward.planning.plan import Plan, make_plan
from onward.planning.policies import Below, Drifts, Every, Falls, Never, Policy
from onward.planning.replay import Timing, replay
from onward.planning.staleness import staleness
from onward.planning.terminal import sentences
from onward.report.provenance import CardPeriod, StreamCard

PERIODS = tuple(f"20{10 + at}" for at in range(6))


def fading(per_period: float = 4.0, seeds: int = 6, top: float = 90.0) -> NDArray[np.float64]:
    """Scores that fall by so many points with every period, and differ a little by seed."""
    at = np.arange(len(PERIODS))
    R = top - per_period * (at[None, :] - at[:, None] - 1)
    return np.stack(
        [np.where(at[None, :] > at[:, None], R + 0.1 * s, np.nan) for s in range(seeds)]
    )


def a_history(**scores: NDArray[np.float64]) -> History:
    found = scores or {"finetune": fading()}
    seeds = len(next(iter(found.values())))
    return History(
        "tiny", PERIODS, tuple(range(seeds)), found, dict.fromkeys(found, 0.5), label_delay=0
    )


def priced(plan: Plan, method: str, policy: Policy) -> float:
    [found] = [one for one in plan.policies if (one.method, one.policy) == (method, policy)]
    return found.total


def test_costs_are_those_that_one_computes_by_hand() -> None:
    plan = make_plan(a_history(), Costs(update=3.0, loss=1.0))
    # Five periods are served. Never: 0 + 4 + 8 + 12 + 16 points. Every 2: 0, 4, 0, 4, 0, twice.
    assert priced(plan, "finetune", Never()) == pytest.approx(40)
    assert priced(plan, "finetune", Every(1)) == pytest.approx(4 * 3)
    assert priced(plan, "finetune", Every(2)) == pytest.approx(2 * 3 + 8)
    assert plan.best.policy == Every(1)
    assert plan.best.over_time.tolist() == pytest.approx([0, 3, 6, 9, 12])


def test_seeds_that_share_one_split_recommend_without_a_claim() -> None:
    history = replace(a_history(), same_rows=True)
    plan = make_plan(history, Costs(update=3.0, loss=1.0))
    assert len(make_plan(a_history(), Costs(update=3.0, loss=1.0)).undecided) < len(plan.undecided)
    assert {plan.against(one).answer for one in plan.policies[1:] if one.missing is None} == {
        "cannot tell"
    }
    assert any("share one split" in sentence for sentence in plan.assumptions)


def test_dear_updates_are_seldom_and_free_ones_frequent() -> None:
    often = [
        make_plan(a_history(), Costs(update, 1.0), falls=()).best.updates
        for update in (0.0, 3.0, 6.0, 20.0, 1000.0)
    ]
    assert often == sorted(often, reverse=True)
    assert (often[0], often[-1]) == (4, 0)


def test_a_method_that_computes_more_costs_more() -> None:
    history = a_history(slow=fading(), fast=fading())
    history.cpu_hours["slow"], history.cpu_hours["fast"] = 2.0, 1.0  # type: ignore[index]
    plan = make_plan(history, Costs(1.0, 1.0, cpu_hour=1.0))
    assert plan.best.method == "fast"
    slow, fast = (priced(plan, method, Every(1)) for method in ("slow", "fast"))
    assert slow - fast == pytest.approx(4)


POLICIES = (Never(), Every(1), Every(3), Drifts(0.5), Falls(2.0), Below(75.0))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("delay", [0, 1, 2])
def test_no_policy_looks_ahead(policy: Policy, delay: int) -> None:
    rng = np.random.default_rng(3)
    T = 12
    R, drift = rng.uniform(50, 95, (T, T)), rng.uniform(0, 1, (T, T))
    timing = Timing(T, delay)
    usual = replay(policy, R, timing, Drift(drift, "inputs"))
    fell = set()
    for now in range(delay, T - 1):
        other_R, other_drift = R.copy(), drift.copy()
        # Nobody knows scores of periods whose labels are to come, nor a drift of tomorrow.
        other_R[:, now - delay + 1 :] = rng.uniform(0, 100, (T, T - (now - delay + 1)))
        other_drift[:, now + 1 :] = rng.uniform(0, 1, (T, T - now - 1))
        other = replay(policy, other_R, timing, Drift(other_drift, "inputs"))
        assert [at for at in other.updated if at <= now] == [
            at for at in usual.updated if at <= now
        ]
        fell.add(other.updated)
    if not isinstance(policy, Never | Every):
        assert len(fell) > 1  # the future did change what was done later


def test_a_policy_that_sees_ahead_would_be_found() -> None:
    class Prophet:
        kind, name = "fall", "prophet"

        def updates(self, seen: object) -> bool:
            return bool(R[0, -1] > 50)

    R = fading()[0]
    before = replay(Prophet(), R, Timing(6)).updated
    R = R.copy()
    R[0, -1] = 0
    assert replay(Prophet(), R, Timing(6)).updated != before


def test_late_labels_make_models_and_measurements_old() -> None:
    R = fading()[0]
    usual, late = replay(Falls(3), R, Timing(6)), replay(Falls(3), R, Timing(6, delay=1))
    # In service from period 1 on; a fall of 4 points in period 2 is seen at its end, or one later.
    assert usual.updated == (2, 4)
    assert late.updated[0] == 4
    assert late.rows[0] == 0
    assert len(late.scores) == len(usual.scores) - 1
    inside = replay(Every(1), R, Timing(6, delay=1, inside=True))
    assert inside.rows == (1, 2, 3, 4)
    assert replay(Every(1), R, Timing(6, delay=1)).rows == (0, 1, 2, 3)


def test_the_class_mix_waits_for_labels_and_inputs_do_not() -> None:
    values = np.zeros((6, 6))
    values[0, 3:] = 1.0
    for needs, expected in ((False, (3,)), (True, (4,))):
        drift = Drift(values, "", needs_labels=needs)
        found = replay(Drifts(0.5), fading()[0], Timing(6, delay=1), drift)
        assert found.updated[:1] == expected


def test_staleness_is_paired_by_period() -> None:
    hard = fading()
    hard[:, :, 4] -= 30  # a period that is hard for everyone
    curve = staleness(hard)
    assert [one.distance for one in curve] == [1, 2, 3, 4, 5]
    assert [round(one.loss, 6) for one in curve] == [0, 4, 8, 12, 16]
    assert [one.cells for one in curve] == [5, 4, 3, 2, 1]


def test_what_the_seeds_cannot_tell_is_said() -> None:
    rng = np.random.default_rng(0)
    noisy = fading() + rng.normal(0, 5, (6, 1, 1))
    plan = make_plan(a_history(a=fading(), b=noisy), Costs(1.0, 1.0))
    told = [one.name for one in plan.undecided]
    assert any("every period" in name for name in told)
    assert "cannot tell it from" in " ".join(sentences(plan))
    plain = plan.as_json()
    assert plain["recommendation"]["cannot_be_told_from"]
    json.dumps(plain, allow_nan=False)


def test_one_seed_has_no_interval() -> None:
    plan = make_plan(a_history(er=fading(seeds=1)), Costs(1.0, 1.0))
    assert plan.best.interval is None
    assert plan.as_json()["recommendation"]["interval"] is None
    assert all(one["low"] is None for one in plan.as_json()["staleness"]["er"])
    assert any("One seed" in line for line in plan.assumptions)
    # Nothing is decided by one seed, however far apart.
    assert len(plan.undecided) == sum(one.missing is None for one in plan.policies) - 1


def test_an_empty_cell_is_named_by_the_policies_that_need_it() -> None:
    gaps = fading()
    gaps[:, 0, 3:] = np.nan
    plan = make_plan(a_history(er=gaps), Costs(1.0, 1.0))
    lacking = {one.policy.name: one.missing for one in plan.policies if one.missing}
    assert lacking["never"] == "the score in 2013 of the model of 2010"
    assert "every period" not in lacking
    assert plan.best.missing is None
    named = [one for one in plan.as_json()["policies"] if "missing" in one]
    assert {one["policy"] for one in named} == set(lacking)
    with pytest.raises(OnwardError, match="tested on the period after"):
        make_plan(a_history(er=np.full((2, 6, 6), np.nan)), Costs(1.0, 1.0))


@pytest.mark.parametrize("wrong", [(-1, 1), (1, -1), (float("nan"), 1), (float("inf"), 1), (0, 0)])
def test_costs_that_make_no_sense_are_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(OnwardError, match="expected a cost"):
        Costs(*wrong)


@pytest.mark.parametrize("delay", [-1, 5])
def test_delays_that_make_no_sense_are_refused(delay: int) -> None:
    with pytest.raises(OnwardError, match="delay of 0 to 4"):
        make_plan(a_history(), Costs(1, 1), delay=delay)


def test_drift_is_read_from_a_file_or_from_the_class_mix(tmp_path: Path) -> None:
    path = tmp_path / "drift.json"
    pairs = [{"from": "2010", "to": "2011", "samples": 9, "frechet": 1.5}]
    path.write_text(json.dumps({"data": "x", "pairs": [*pairs, {"from": "a", "to": "b"}]}))
    found = read_drift(path, PERIODS, "frechet")
    assert found.values[0, 1] == found.values[1, 0] == 1.5
    assert np.isnan(found.values[0, 2])
    plan = make_plan(a_history(), Costs(1, 1), drift=found, drift_thresholds=[2.0])
    [lacks] = [one for one in plan.policies if one.policy == Drifts(2.0)]
    assert lacks.missing == "the drift up to 2012"
    matrix = np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0)))
    listed = [{"name": name} for name in ("2009", *PERIODS)]
    whole = tmp_path / "whole.json"
    matrices = {"frechet": matrix.tolist(), "labels": matrix.tolist()}
    whole.write_text(json.dumps({"periods": listed, "matrices": matrices}))
    np.testing.assert_array_equal(read_drift(whole, PERIODS).values, matrix[1:, 1:])
    assert read_drift(whole, PERIODS, "labels").needs_labels
    with pytest.raises(OnwardError, match="Did you mean 'frechet'"):
        read_drift(path, PERIODS, "frechett")
    with pytest.raises(OnwardError, match="none of these"):
        read_drift(path, ["x", "y"])
    path.write_text("{")
    with pytest.raises(OnwardError, match="distances between periods"):
        read_drift(path, PERIODS)
    mixes = [{"cat": 3, "dog": 1}, {"cat": 1, "dog": 3}, {"dog": 2}]
    card = StreamCard(
        title="", summary="", licence="", citation="", data_digest="",
        periods=[
            CardPeriod(name=name, start=None, end=None, samples=4, classes=mix)
            for name, mix in zip(PERIODS, mixes, strict=False)
        ],
    )  # fmt: skip
    mixed = class_mix_drift(card, PERIODS[:3])
    assert mixed is not None
    assert mixed.values[0].tolist() == [0.0, 0.5, 0.75]
    assert mixed.needs_labels
    assert class_mix_drift(card, PERIODS) is None


@pytest.mark.parametrize("rows", [5, [5, 6], [[1, 2], [3]], [[None] * 6] * 6, {"a": 1}])
def test_matrices_that_say_nothing_are_refused(tmp_path: Path, rows: object) -> None:
    path = tmp_path / "drift.json"
    path.write_text(json.dumps({"periods": list(PERIODS), "matrices": {"frechet": rows}}))
    with pytest.raises(OnwardError, match="found none of these"):
        read_drift(path, PERIODS)
    pair = {"from": PERIODS[0], "to": PERIODS[0], "frechet": 1.0}
    path.write_text(json.dumps([pair]))
    with pytest.raises(OnwardError, match="found none of these"):
        read_drift(path, PERIODS)


def test_thresholds_that_nothing_can_be_held_against_are_refused() -> None:
    for wrong in ({"below": [np.nan]}, {"falls": [np.inf]}, {"drift_thresholds": [np.nan]}):
        with pytest.raises(OnwardError, match=r"to update .* found (nan|inf)"):
            make_plan(a_history(), Costs(1, 1), **wrong)
    with pytest.raises(OnwardError, match="--drift FILE"):
        make_plan(a_history(), Costs(1, 1), drift_thresholds=[0.5])


def test_the_page_has_the_answer_and_the_names_as_text(tmp_path: Path) -> None:
    plan = make_plan(a_history(**{"er<b>": fading(), "nap": fading(0.0, top=80)}), Costs(3, 1))
    write_plan_page(plan, tmp_path / "plan.html")
    text = (tmp_path / "plan.html").read_text()
    assert "er<b>" not in text
    assert "er&lt;b&gt;" in text
    assert "Spent over time" in text
    assert text.count("<svg") == 3
