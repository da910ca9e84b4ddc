"""The sign-flip test against brute force and scipy, and verdicts that claim no more than it."""

import itertools
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onward.metrics.paired import EXACT_UP_TO, compare, seeds_to_decide, sign_flip_test

WHOLE = st.lists(st.integers(-50, 50), min_size=1, max_size=8)


def brute_force(differences: list[int]) -> float:
    """Count every sign pattern in whole numbers, where ties are exact."""
    observed = abs(sum(differences))
    patterns = list(itertools.product([-1, 1], repeat=len(differences)))
    hits = sum(
        abs(sum(s * d for s, d in zip(pattern, differences, strict=True))) >= observed
        for pattern in patterns
    )
    return hits / len(patterns)


@given(WHOLE)
@example([0, 0])
@example([1, -1])
@example([5, 5, 5, -5])
def test_p_is_the_counted_share_of_sign_patterns(differences: list[int]) -> None:
    assert sign_flip_test(differences) == brute_force(differences)


@given(WHOLE)
def test_rounding_errors_do_not_break_ties(differences: list[int]) -> None:
    # Tenths have no exact binary form: naive sums of 0.1, 0.2, ... miss their mirrored patterns.
    scores = [90.0 + d / 10 for d in differences]
    noisy = [score - 90.0 for score in scores]
    assert sign_flip_test(noisy) == brute_force(differences)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=10))
def test_p_is_a_multiple_of_one_pattern_and_never_below_the_best(differences: list[float]) -> None:
    p = sign_flip_test(differences)
    n = len(differences)
    assert (p * 2**n).is_integer()
    assert min(1.0, 2 / 2**n) <= p <= 1


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=10),
    st.integers(-30, 30),
    st.randoms(use_true_random=False),
)
def test_p_ignores_sign_scale_and_order(
    differences: list[float],
    power: int,
    random: object,
) -> None:
    p = sign_flip_test(differences)
    assert sign_flip_test([-d for d in differences]) == p
    # A power of two scales without rounding, as long as nothing underflows.
    if all(d == 0 or abs(d) > 1e-290 for d in differences):
        assert sign_flip_test([d * 2.0**power for d in differences]) == p
    shuffled = list(differences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sign_flip_test(shuffled) == pytest.approx(p, abs=0)


@given(WHOLE)
def test_zeros_carry_no_evidence(differences: list[int]) -> None:
    assert sign_flip_test([*differences, 0, 0]) == sign_flip_test(differences)


def test_huge_differences_do_not_overflow() -> None:
    assert sign_flip_test([1.5e308, 1.5e308, 1.5e308]) == 0.25


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(seed).normal(0.4, 1, size=9)
    oracle = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(differences) == pytest.approx(oracle.pvalue, abs=1e-12)


def test_twenty_are_still_counted_exactly() -> None:
    assert EXACT_UP_TO == 20
    assert sign_flip_test(np.arange(1, 21)) == 2 / 2**20


def test_more_than_twenty_are_drawn_reproducibly_and_close_to_the_truth() -> None:
    # Equal differences make the truth a binomial tail: 21 ones of which 6 are turned.
    differences = [1] * 15 + [-1] * 6
    truth = 2 * sum(math.comb(21, k) for k in range(7)) / 2**21
    p = sign_flip_test(differences)
    assert p == sign_flip_test(differences)
    assert p == sign_flip_test(differences[::-1])
    # Five standard errors of a million draws at this p.
    assert p == pytest.approx(truth, abs=5 * (truth / 1e6) ** 0.5)
    assert p != truth
    assert sign_flip_test([1] * 40) == 1e-6


def test_every_drawn_pattern_counts() -> None:
    # The smallest sum of all was observed, so each drawn one reaches it; or none does.
    least = [1e6, *[-1.0] * EXACT_UP_TO]
    assert sign_flip_test(least) == 1.0
    assert sign_flip_test(np.ones(60)) == 1e-6


def test_five_seeds_that_agree_cannot_tell() -> None:
    verdict = compare([91, 92, 93, 94, 95], [90, 90, 90, 90, 90])
    assert verdict.answer == "cannot tell"
    assert (verdict.p, verdict.n, verdict.wins, verdict.losses) == (0.0625, 5, 5, 0)
    assert verdict.needed == 6
    assert str(verdict) == verdict.sentence()
    assert str(verdict) == (
        "cannot tell (5 of 5 seeds agree, but 5 seeds can at best give p = 0.0625; 6 needed)"
    )


def test_too_few_seeds_that_disagree_are_not_said_to_agree() -> None:
    assert str(compare([1, 2, 3, 4, 0], [2, 1, 2, 3, 0])) == (
        "cannot tell (ahead in 3 of 5 seeds, behind in 1, and 5 seeds can at best give "
        "p = 0.0625; 6 needed)"
    )
    assert str(compare([1], [0])) == (
        "cannot tell (1 of 1 seeds agree, but 1 seed can at best give p = 1; 6 needed)"
    )


def test_six_seeds_that_agree_tell() -> None:
    better = compare([91, 92, 93, 94, 95, 96], [90] * 6)
    assert (better.answer, better.p, better.difference) == ("better", 0.03125, 3.5)
    assert better.needed is None
    assert str(better) == (
        "better (mean difference +3.5, ahead in 6 of 6 seeds, behind in 0, p = 0.0312)"
    )
    assert compare([90] * 6, [91, 92, 93, 94, 95, 96]).answer == "worse"


def test_enough_seeds_with_mixed_signs_cannot_tell() -> None:
    verdict = compare([1, 2, 3, 4, 5, 0], [2, 1, 2, 5, 4, 0])
    assert verdict.answer == "cannot tell"
    assert verdict.needed is None
    assert (verdict.wins, verdict.losses) == (3, 2)
    assert str(verdict).startswith("cannot tell (mean difference +0.167, ahead in 3 of 6 seeds")


def test_the_verdict_follows_the_mean_and_the_sentence_admits_the_majority() -> None:
    verdict = compare([100.0] * 6 + [0.0] * 8, [0.0] * 6 + [0.1] * 8)
    assert verdict.answer == "better"
    assert "ahead in 6 of 14 seeds, behind in 8" in str(verdict)


def test_lower_is_better_turns_the_answer_but_not_the_difference() -> None:
    low, high = [0.1, 0.2, 0.3, 0.2, 0.1, 0.3], [0.5, 0.6, 0.7, 0.8, 0.9, 0.6]
    verdict = compare(low, high, higher_is_better=False)
    assert verdict.answer == "better"
    assert verdict.wins == 6
    assert verdict.difference < 0
    assert compare(low, high).answer == "worse"


@pytest.mark.parametrize(
    ("level", "needed"), [(0.5, 2), (0.1, 5), (0.0625, 5), (0.05, 6), (0.01, 8), (0.001, 11)]
)
def test_needed_is_the_first_number_of_seeds_that_can_reach_the_level(
    level: float, needed: int
) -> None:
    assert compare([1.0], [0.0], level=level).needed == needed
    assert compare([1.0] * needed, [0.0] * needed, level=level).answer == "better"
    assert compare([1.0] * (needed - 1), [0.0] * (needed - 1), level=level).answer == "cannot tell"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_swapping_the_methods_mirrors_the_verdict(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    there, back = compare(a, b), compare(b, a)
    mirrored = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}
    assert back.answer == mirrored[there.answer]
    assert (back.p, back.wins, back.losses) == (there.p, there.losses, there.wins)
    assert back.difference == -there.difference


def test_inputs_are_left_alone_and_verdicts_are_frozen() -> None:
    a, b = np.array([3.0, 1.0, 2.0]), np.array([0.0, 5.0, 1.0])
    verdict = compare(a, b)
    sign_flip_test(a)
    np.testing.assert_array_equal(a, [3.0, 1.0, 2.0])
    np.testing.assert_array_equal(b, [0.0, 5.0, 1.0])
    with pytest.raises(FrozenInstanceError):
        verdict.answer = "better"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("bad_call", "says"),
    [
        (lambda: compare([1, 2], [1]), r"as many .* got 2 and 1; keep only the seeds"),
        (lambda: compare([1, np.nan], [1, 2]), r"scores of a without gaps, got NaN at position 1"),
        (lambda: compare([1, 2], [np.nan, 2]), r"scores of b without gaps, got NaN at position 0"),
        (lambda: compare([], []), r"at least one number, got shape \(0,\); pass a list"),
        (lambda: compare([1], [1], level=5), r"a level between 0 and 1, got 5; pass"),
        (lambda: sign_flip_test([np.nan]), r"differences without gaps, got NaN .* leave that seed"),
        (lambda: sign_flip_test([[1.0]]), r"differences as a flat list .* got shape \(1, 1\)"),
    ],
)
def test_errors_say_what_was_expected_and_found_and_what_to_do(
    bad_call: Callable[[], object], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        bad_call()


@pytest.mark.parametrize("differences", [[1.0], [1.0, -1.0], [0.0, 0.0]])
def test_one_seed_or_no_difference_says_nothing_of_more_seeds(differences: list[float]) -> None:
    assert seeds_to_decide(differences) is None
