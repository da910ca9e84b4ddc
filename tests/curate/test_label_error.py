"""The estimated label error: does its interval cover the truth, and is it honest about little?"""

import numpy as np
import pytest

from onward.curate import label_error as estimate
from onward.curate.label_error import Questions, label_error
from show_label_error import campaign


def _covered(seeds: range, **sizes: int) -> int:
    found = [campaign(seed, **sizes) for seed in seeds]
    return sum(error.low <= truth <= error.high for _, truth, error in found)


def test_it_covers_the_truth_in_small_campaigns() -> None:
    assert _covered(range(6), per_concept=40, people=6) >= 5


@pytest.mark.slow
def test_it_covers_the_truth_in_ninety_of_a_hundred_campaigns() -> None:
    assert _covered(range(100)) >= 90


def _asked(positive: int, negative: int, lured: int, *, known: int = 0) -> Questions:
    """Return votes of three who agree on everything, but for some negatives that lured one."""
    yes = np.zeros((positive + negative, 3), np.int64)
    yes[:positive] = 1
    yes[positive : positive + lured, 0] = 1
    who = np.tile(np.arange(3), (len(yes), 1))
    truth = np.full(len(yes), -1, np.int64)
    truth[:known] = 1
    return Questions(yes, who, np.zeros(len(yes), np.int64), truth)


def test_no_error_seen_is_no_proof_of_none() -> None:
    asked = _asked(20, 5, 0)
    few = label_error(asked, asked.yes.sum(1) >= 2)
    asked = _asked(2000, 500, 5)
    many = label_error(asked, asked.yes.sum(1) >= 2)
    assert few is not None
    assert many is not None
    assert few.low == many.low == 0
    assert few.high >= 0.05
    # The rule of three, for 2,000 images.
    assert many.high == pytest.approx(0.0015, rel=0.1)
    assert few.estimate > 0


def test_who_errs_more_is_worth_less() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(1500) < 0.7
    errors = []
    for rate in (0.05, 0.2):
        yes = np.where(rng.random((1500, 3)) < rate, ~truth[:, None], truth[:, None])
        asked = Questions(
            yes.astype(np.int64),
            np.tile(np.arange(3), (1500, 1)),
            np.zeros(1500, np.int64),
            np.full(1500, -1),
        )
        accepted = asked.yes.sum(1) >= 2
        found = label_error(asked, accepted)
        assert found is not None
        assert found.low <= (~truth[accepted]).mean() <= found.high
        errors.append(found.estimate)
    assert errors[1] > 3 * errors[0]


def test_what_is_known_is_not_guessed() -> None:
    asked = _asked(50, 10, 3, known=50)
    found = label_error(asked, asked.yes.sum(1) >= 2)
    assert found is not None
    assert found.low == found.high == found.estimate == 0
    wrong = Questions(asked.yes, asked.who, asked.concept, np.where(asked.known == 1, 0, -1))
    found = label_error(wrong, asked.yes.sum(1) >= 2)
    assert found is not None
    assert found.low == found.high == 1


def test_many_annotators_and_images_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_PEOPLE", 10)
    monkeypatch.setattr(estimate, "_IMAGES", 1500)
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.8
    quality = rng.uniform(0.02, 0.2, 60)
    who = np.stack([rng.choice(60, 3, replace=False) for _ in range(len(truth))])
    yes = np.where(rng.random(who.shape) < quality[who], ~truth[:, None], truth[:, None])
    asked = Questions(
        yes.astype(np.int64), who, rng.integers(0, 3, len(truth)), np.full(len(truth), -1)
    )
    accepted = asked.yes.sum(1) >= 2
    found = label_error(asked, accepted)
    assert found is not None
    assert found.low <= (~truth[accepted]).mean() <= found.high


def test_the_same_votes_give_the_same_numbers_and_no_image_none() -> None:
    asked = _asked(40, 10, 2)
    accepted = asked.yes.sum(1) >= 2
    assert label_error(asked, accepted) == label_error(asked, accepted)
    assert label_error(asked, np.zeros(50, np.bool_)) is None
