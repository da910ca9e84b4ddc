import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from onward.errors import OnwardError
from onward.memory import Everything, Reservoir


@pytest.mark.parametrize("capacity", [1, 3, 7])
@pytest.mark.parametrize("chunk", [1, 4, 12])
def test_every_sample_is_kept_equally_often(capacity: int, chunk: int) -> None:
    seen, seeds = 12, 3000
    kept = np.zeros(seen)
    for seed in range(seeds):
        memory = Reservoir(capacity, seed=seed)
        for start in range(0, seen, chunk):
            memory.admit(np.arange(start, min(start + chunk, seen)))
        kept[memory.rows] += 1
    assert kept.sum() == seeds * capacity
    assert chisquare(kept).pvalue > 1e-4


@given(st.integers(1, 20), st.lists(st.integers(0, 30), max_size=12))
def test_never_more_than_capacity_and_never_a_duplicate(capacity: int, sizes: list[int]) -> None:
    memory, start = Reservoir(capacity, seed=0), 0
    for size in sizes:
        memory.admit(np.arange(start, start + size))
        start += size
        assert len(memory.rows) == min(capacity, start) == len(set(memory.rows.tolist()))


def test_labels_stay_with_their_rows() -> None:
    memory = Reservoir(5, seed=1)
    for start in range(0, 100, 10):
        rows = np.arange(start, start + 10)
        memory.admit(rows, rows * 2)
    np.testing.assert_array_equal(memory.labels, memory.rows * 2)


def test_a_restored_reservoir_goes_on_as_the_old_one() -> None:
    old = Reservoir(4, seed=3)
    old.admit(np.arange(20))
    new = Reservoir(4, seed=99)
    new.restore(old.state())
    for memory in (old, new):
        memory.admit(np.arange(20, 60))
    np.testing.assert_array_equal(old.rows, new.rows)


def test_capacity_zero_is_refused() -> None:
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        Reservoir(0)


def test_everything_keeps_many_labels_per_sample_too() -> None:
    memory = Everything()
    memory.admit(np.array([1, 2]), np.eye(2, 3, dtype=bool))
    memory.admit(np.array([5]), np.ones((1, 3), bool))
    assert memory.rows.tolist() == [1, 2, 5]
    assert memory.labels.shape == (3, 3)
