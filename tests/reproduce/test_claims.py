"""Claims are answered by what the seeds decide, and by nothing else."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from onward.reproduce.claims import Cell, Claim, Judgement, Pair, judge
from onward.reproduce.published import Value

A, B, C = (Cell(name, "next") for name in "abc")


def claim(*pairs: tuple[Cell, Cell]) -> Claim:
    return Claim("a name", "A sentence.", "section 1", tuple(Pair(*pair) for pair in pairs))


def answered(claim: Claim, same_rows: Sequence[str] = (), **gains: list[float]) -> Judgement:
    """Judge with scores that differ per repetition; cells are 0.5 plus a shared luck plus gains."""
    luck = np.linspace(0, 0.2, 12)
    scores = {
        Cell(name, "next"): {n: 0.5 + luck[n] + gain for n, gain in enumerate(values)}
        for name, values in gains.items()
    }
    published = {"a": 91.0, "b": 90.0, "c": None}
    return judge(
        claim, scores, lambda cell: Value(published[cell.row], 0.1), same_rows=set(same_rows)
    )


def test_runs_that_share_one_split_decide_no_claim() -> None:
    ahead = [0.010, 0.011, 0.012, 0.009, 0.01, 0.01, 0.01, 0.01]
    for a, b in ((ahead, [0.0] * 8), ([0.0] * 8, ahead)):
        found = answered(claim((A, B)), ["b"], a=a, b=b)
        assert found.answer == "cannot tell"
        assert found.tested[0].interval == (-math.inf, math.inf)


def test_a_pair_that_all_seeds_agree_on_holds() -> None:
    found = answered(
        claim((A, B)), a=[0.010, 0.011, 0.012, 0.009, 0.01, 0.01, 0.01, 0.01], b=[0] * 8
    )
    assert found.answer == "holds"
    (pair,) = found.tested
    assert pair.verdict.p == pytest.approx(2 / 2**8)
    assert pair.verdict.n == 8
    assert pair.interval[0] > 0
    assert pair.interval[0] < pair.verdict.difference < pair.interval[1]


def test_a_pair_the_other_way_round_does_not_hold() -> None:
    found = answered(claim((A, B)), a=[0] * 8, b=[0.01] * 8)
    assert found.answer == "does not hold"
    assert found.counts() == {"for": 0, "against": 1, "undecided": 0, "not run": 0}


def test_noise_and_few_seeds_cannot_tell() -> None:
    assert answered(claim((A, B)), a=[0.1, -0.1] * 4, b=[0] * 8).answer == "cannot tell"
    few = answered(claim((A, B)), a=[0.1] * 5, b=[0] * 5)
    assert few.answer == "cannot tell"
    assert few.tested[0].interval == (-np.inf, np.inf)


def test_every_pair_must_be_decided() -> None:
    both = claim((A, B), (A, C))
    assert answered(both, a=[0.1] * 8, b=[0] * 8, c=[0] * 8).answer == "holds"
    undecided = answered(both, a=[0.1] * 8, b=[0] * 8, c=[0, 0.2] * 4)
    assert undecided.answer == "cannot tell"
    assert undecided.counts() == {"for": 1, "against": 0, "undecided": 1, "not run": 0}
    assert undecided.weakest is not None
    assert undecided.weakest.pair.below == C


def test_a_pair_that_was_not_run_leaves_it_open() -> None:
    found = answered(claim((A, B), (A, C)), a=[0.1] * 8, b=[0] * 8)
    assert found.answer == "cannot tell"
    assert found.counts()["not run"] == 1


def test_refuting_one_of_many_pairs_needs_more_than_chance() -> None:
    many = claim(*[(A, B)] * 8)
    # Eight seeds give at best p = 0.0078, above 0.05 / 8; nine give 0.0039.
    assert answered(many, a=[0] * 8, b=[0.1] * 8).answer == "cannot tell"
    assert answered(many, a=[0] * 9, b=[0.1] * 9).answer == "does not hold"


def test_only_shared_repetitions_are_paired() -> None:
    found = answered(claim((A, B)), a=[0.1] * 10, b=[0] * 6)
    assert found.tested[0].repetitions == tuple(range(6))


def test_published_numbers_are_held_against_the_claim_too() -> None:
    found = answered(claim((A, B), (B, A), (A, C)), a=[0.1] * 8, b=[0] * 8)
    assert found.published.sentence() == (
        "the published numbers satisfy it in 1 of 2 pairs; 1 cannot be read"
    )
