import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.data.split import held_out
from onward.types import Folds, Holdout

GROUPS = np.array([f"g{i // 3}" for i in range(3000)])


@pytest.mark.parametrize("seed", [0, 5, 12])
def test_over_k_seeds_each_sample_is_held_out_exactly_once(seed: int) -> None:
    first = seed - seed % 5
    held = np.stack([held_out(GROUPS, Folds(5), s) for s in range(first, first + 5)])
    assert (held.sum(0) == 1).all()


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40), st.integers(0, 20))
def test_a_group_is_on_one_side(names: list[str], seed: int) -> None:
    groups = np.array(names)
    for split in (Holdout(0.3), Folds(3)):
        held = held_out(groups, split, seed)
        for name in set(names):
            assert len(set(held[groups == name].tolist())) == 1


def test_a_group_stays_where_it_is_when_data_is_added() -> None:
    few, many = GROUPS[:900], GROUPS
    for split in (Holdout(0.3), Folds(5)):
        np.testing.assert_array_equal(held_out(few, split, 4), held_out(many, split, 4)[:900])


def test_the_share_is_about_right_and_seeds_differ() -> None:
    shares = [held_out(GROUPS, Holdout(0.3), seed).mean() for seed in range(20)]
    assert np.mean(shares) == pytest.approx(0.3, abs=0.01)
    assert len({held_out(GROUPS, Holdout(0.3), seed).tobytes() for seed in range(20)}) == 20
