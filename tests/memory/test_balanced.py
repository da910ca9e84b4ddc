import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from onward.errors import OnwardError
from onward.memory import Balanced

SEEDS = 2000


@given(st.integers(1, 12), st.lists(st.lists(st.integers(0, 4), max_size=15), max_size=8))
def test_shares_are_as_even_as_what_was_seen_allows(capacity: int, views: list[list[int]]) -> None:
    memory, seen, start = Balanced(capacity), np.zeros(5, int), 0
    for labels in views:
        memory.admit(np.arange(start, start + len(labels)), np.array(labels, np.int64))
        start += len(labels)
        seen += np.bincount(labels, minlength=5) if labels else 0
        share = np.bincount(memory.labels, minlength=5)
        assert share.sum() == min(capacity, start) == len(set(memory.rows.tolist()))
        assert (share <= seen).all()
        lacking = share < seen
        if lacking.any():
            assert share.max() - share[lacking].min() <= 1


@pytest.mark.parametrize("capacity", [1, 5])
@pytest.mark.parametrize("chunk", [5, 24])
def test_a_class_that_recurs_is_refreshed_evenly(capacity: int, chunk: int) -> None:
    labels = np.array([0] * 6 + [1] * 6 + [0] * 6 + [1] * 6)
    kept = np.zeros(24)
    for seed in range(SEEDS):
        memory = Balanced(capacity, seed=seed)
        for start in range(0, 24, chunk):
            rows = np.arange(start, min(start + chunk, 24))
            memory.admit(rows, labels[rows])
        kept[memory.rows] += 1
    assert kept.sum() == SEEDS * capacity
    # Both classes alike: where the capacity is odd, neither has the odd place more often.
    assert chisquare(kept).pvalue > 1e-4


def test_a_restored_memory_goes_on_as_the_old_one() -> None:
    old, new = Balanced(4, seed=3), Balanced(4, seed=3)
    old.admit(np.arange(20), np.arange(20) % 3)
    new.restore(old.state())
    for memory in (old, new):
        memory.admit(np.arange(20, 60), np.arange(40) % 4)
    np.testing.assert_array_equal(old.rows, new.rows)


def test_capacity_zero_is_refused() -> None:
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        Balanced(0)
