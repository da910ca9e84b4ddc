"""The verdict's sentences follow the numbers, and say so when seeds cannot decide."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import numpy as np

from onward.report.provenance import CardPeriod, StreamCard
from onward.report.summary import by_setting, summarise
from onward.report.verdict import Finding, findings

NAN = float("nan")


def by_question(records: list, card: StreamCard | None = None) -> dict[str, Finding]:
    found = findings(by_setting(summarise(records)), card)
    return {finding.question: finding for finding in found}


def test_every_question_has_its_answer_from_the_right_runs(demo: Callable) -> None:
    found = by_question(demo())
    tomorrow, past = found["What is right tomorrow?"], found["What remembers the past?"]
    assert tomorrow.answer.startswith("finetune has the highest mean, 68.")
    assert "nap the lowest" in tomorrow.answer
    assert "(next-domain, streaming)" in tomorrow.grounds
    assert past.answer.startswith("cumulative has the highest mean, 69.")
    assert "(backward transfer, iid)" in past.grounds
    assert "Against finetune: " in past.grounds
    assert found["What does it cost?"].answer == (
        "finetune takes 0.20 CPU seconds and keeps no sample."
    )
    assert "er takes 7.0 times that and keeps 900 samples" in found["What does it cost?"].grounds
    assert "40.0 ± 0.0 %" in found["And on other?"].answer


def test_five_seeds_are_said_to_decide_nothing_and_six_decide(demo: Callable) -> None:
    five, six = by_question(demo(5)), by_question(demo(6))
    assert five["How sure is this?"].answer == "5 seeds cannot decide, 6 could."
    assert "p = 0.0625" in five["How sure is this?"].grounds
    assert "cannot tell: 6 seeds needed" in five["What is right tomorrow?"].grounds
    assert six["What is right tomorrow?"].answer.startswith("finetune is best: ")
    assert "cannot" not in six["How sure is this?"].answer


def test_what_time_costs_by_hand_with_years_from_the_card(make: Callable) -> None:
    records = [make([[0.8, 0.6], [0.4, 0.7]], method="scratch", seed=seed) for seed in (0, 1)]
    stale = by_question(records)["What goes stale?"]
    assert stale.answer == "1 period costs a model 25.0 ± 0.0 points."
    assert "75.0 ± 0.0 %" in stale.grounds
    assert "50.0 ± 0.0 %" in stale.grounds
    assert "10.0 ± 0.0 points behind" in stale.grounds
    assert "own beats other in 2 of 2 seeds (cannot tell: 6 seeds needed)" in stale.grounds
    days = [date(2017, 5, 8), date(2025, 9, 24)]
    periods = [CardPeriod(name="x", start=day, end=day, samples=1) for day in days]
    card = StreamCard(
        title="t", summary="s", licence="l", citation="c", data_digest="d", periods=periods
    )
    dated = by_question(records, card)["What goes stale?"]
    assert dated.answer == "8.4 years cost a model 25.0 ± 0.0 points."


def test_one_seed_cannot_tell(make: Callable) -> None:
    found = by_question([make([[0.7]], method="a"), make([[0.8]], method="b")])
    assert found["How sure is this?"].answer == "One seed cannot tell."


def test_questions_without_runs_are_left_out(make: Callable) -> None:
    R = np.array([[NAN, 0.6], [NAN, NAN]])
    found = by_question([make(R, protocol="streaming", seed=seed) for seed in (0, 1)])
    assert list(found) == ["How sure is this?"]


def test_different_numbers_of_seeds_are_said(make: Callable) -> None:
    records = [make([[0.7]], method="a", seed=seed) for seed in range(3)]
    records += [make([[0.7]], method="b", seed=seed) for seed in range(7)]
    assert "over 3 to 7 seeds" in by_question(records)["How sure is this?"].grounds


def constant(make: Callable, method: str, values: dict[int, float]) -> list:
    return [make([[value]], method=method, seed=seed) for seed, value in values.items()]


def test_comparisons_over_few_and_many_seeds_are_told_apart(make: Callable) -> None:
    records = constant(make, "a", dict.fromkeys(range(3), 0.7))
    records += constant(make, "b", dict.fromkeys(range(8), 0.6))
    found = by_question(records)
    assert found["How sure is this?"].answer == (
        "Comparisons over 3 seeds cannot decide; those over 6 or more can."
    )
    assert found["What learns the present?"].answer == (
        "a has the highest mean, 70.0 ± 0.0 % (3 seeds; b 8); b the lowest, 60.0 ± 0.0 %."
    )
    few = [*records[:3], *constant(make, "b", dict.fromkeys(range(5), 0.6))]
    assert by_question(few)["How sure is this?"].answer == "3 to 5 seeds cannot decide, 6 could."


def test_a_mean_that_other_seeds_have_made_is_no_lead(make: Callable) -> None:
    early, late = dict.fromkeys(range(6), 0.5), dict.fromkeys(range(6, 12), 0.9)
    records = constant(make, "a", {**early, **late})
    records += constant(make, "b", dict.fromkeys(range(6), 0.6))
    records += constant(make, "c", dict.fromkeys(range(6), 0.4))
    found = by_question(records)["What learns the present?"]
    assert found.answer == (
        "b is ahead of a over the 6 seeds that both have run, though a has the highest mean over "
        "all of its own, 70.0 ± 20.9 % (12 seeds; b 6; c 6)."
    )
    assert "Worse than b over the seeds that both have run." in found.grounds
    apart = constant(make, "a", {0: 0.7, 1: 0.7}) + constant(make, "b", {2: 0.6, 3: 0.6})
    assert "(2 seeds; b 2 others)" in by_question(apart)["What learns the present?"].answer


def test_methods_that_are_alike_have_no_difference(make: Callable) -> None:
    records = constant(make, "a", {0: 0.5, 1: 0.7}) + constant(make, "b", {0: 0.5, 1: 0.7})
    found = by_question(records)["What learns the present?"]
    assert found.answer == "There is no difference: a and b reach 60.0 ± 14.1 %."
    assert "Against b, the runner-up: no difference in 2 seeds." in found.grounds


def test_who_may_spend_more_than_the_protocol_says_has_no_limits(make: Callable) -> None:
    protocol = {"name": "budget", "tests": "all", "limits": {"macs": 1e12}}
    records = []
    for limits in ({"macs": 1e12}, {}):
        for method in ("a", "b", "finetune")[: 3 if limits else 2]:
            record = make([[0.5]], method=method, limits=limits)
            spec = record.spec.model_copy(update={"protocol": protocol})
            records.append(replace(record, spec=spec))
    assert "And under budget, cpu recipe, no limits?" in by_question(records)
