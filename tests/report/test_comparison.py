"""Methods are compared seed by seed, and nothing is called best that the seeds do not decide."""

from collections.abc import Callable

import pytest

from onward.report.comparison import against, decided_best
from onward.report.summary import summarise

NAN = float("nan")


def runs(make: Callable, method: str, scores: dict[int, float]) -> list:
    return [
        make([[NAN, score], [NAN, NAN]], method=method, seed=seed, protocol="streaming")
        for seed, score in scores.items()
    ]


def test_only_seeds_that_both_have_run_are_paired(make: Callable) -> None:
    records = runs(make, "finetune", {0: 0.5, 1: 0.6, 2: 0.9})
    records += runs(make, "er", {1: 0.7, 2: 0.8, 3: 0.1})
    comparison = against(summarise(records), "finetune")["er"]
    assert comparison.seeds == (1, 2)
    assert comparison.gain.values == pytest.approx((0.1, -0.1))


def test_no_common_seed_or_no_baseline_is_no_comparison(make: Callable) -> None:
    summaries = summarise(
        runs(make, "finetune", {0: 0.5, 1: 0.6}) + runs(make, "er", {2: 0.5, 3: 0.6})
    )
    assert against(summaries, "finetune") == {}
    assert against(summaries, "nobody") == {}


def test_a_metric_without_numbers_is_not_compared(make: Callable) -> None:
    summaries = summarise(runs(make, "finetune", {0: 0.5}) + runs(make, "er", {0: 0.6}))
    assert against(summaries, "finetune", "in_domain") == {}


@pytest.mark.parametrize(
    ("seeds", "sentence"),
    [
        (5, "ahead in 5 of 5 seeds (cannot tell: 6 seeds needed)."),
        (6, "ahead in 6 of 6 seeds (p = 0.031)."),
    ],
)
def test_five_seeds_cannot_tell_and_six_can(make: Callable, seeds: int, sentence: str) -> None:
    records = runs(make, "finetune", {seed: 0.5 + 0.01 * seed for seed in range(seeds)})
    records += runs(make, "er", {seed: 0.6 + 0.01 * seed for seed in range(seeds)})
    summaries = summarise(records)
    comparison = against(summaries, "finetune")["er"]
    head = "er against finetune on next_domain: +10.0 ± 0.0 points, "
    assert comparison.sentence() == head + sentence
    best = decided_best(summaries, "next_domain")
    assert (best.label if best else None) == ("er" if seeds == 6 else None)


def test_a_loss_is_a_loss(make: Callable) -> None:
    records = runs(make, "finetune", dict.fromkeys(range(6), 0.6))
    records += runs(make, "nap", dict.fromkeys(range(6), 0.5))
    phrase = against(summarise(records), "finetune")["nap"].phrase()
    assert phrase == "\N{MINUS SIGN}10.0 ± 0.0 points, behind in 6 of 6 seeds (p = 0.031)"


def test_best_must_beat_everyone_not_only_the_last(make: Callable) -> None:
    records = runs(make, "a", dict.fromkeys(range(6), 0.6))
    records += runs(make, "b", {seed: 0.59 + 0.02 * (seed == 0) for seed in range(6)})
    records += runs(make, "c", dict.fromkeys(range(6), 0.1))
    assert decided_best(summarise(records), "next_domain") is None
    assert decided_best(summarise(records[:6]), "next_domain") is None
