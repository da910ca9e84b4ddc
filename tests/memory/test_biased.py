import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inclusion import inclusion
from scipy.stats import chi2

from onward.errors import OnwardError
from onward.memory import Balanced, BiasedReservoir, Reservoir, dynamic
from onward.memory.biased import Dynamic

SEEDS = 2000


@pytest.mark.parametrize("sizes", [[4, 4, 4], [9, 2, 1, 6]])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 5.0, dynamic(0.75)])
@pytest.mark.parametrize("capacity", [1, 4])
def test_inclusion_is_the_closed_form(
    capacity: int, alpha: float | Dynamic, sizes: list[int]
) -> None:
    kept = np.zeros(sum(sizes))
    for seed in range(SEEDS):
        memory = BiasedReservoir(capacity, alpha, seed=seed)
        for end, size in zip(np.cumsum(sizes), sizes, strict=True):
            memory.admit(np.arange(end - size, end))
        kept[memory.rows] += 1
    expected = np.repeat(inclusion(capacity, alpha, sizes), sizes)
    unsure = (expected > 1e-12) & (expected < 1 - 1e-12)
    np.testing.assert_allclose(kept[~unsure], SEEDS * expected[~unsure])
    variance = SEEDS * expected[unsure] * (1 - expected[unsure])
    # Samples of one memory exclude each other, so this is a chi-square by approximation only: the
    # limit is far out in its tail.
    statistic = ((kept[unsure] - SEEDS * expected[unsure]) ** 2 / variance).sum()
    if unsure.any():
        assert chi2.sf(statistic, unsure.sum()) > 1e-5


def test_the_unbiased_one_is_uniform() -> None:
    assert inclusion(4, 1.0, [4, 4, 2, 3]) == pytest.approx([4 / 13] * 4)


@given(
    st.integers(1, 20),
    st.lists(st.integers(0, 30), max_size=12),
    st.sampled_from([0.0, 0.5, 1.0, 5.0, dynamic(0.5), dynamic(1.0)]),
    st.sampled_from(["random", "tail"]),
)
def test_never_more_than_capacity_and_never_a_duplicate(
    capacity: int, sizes: list[int], alpha: float | Dynamic, replacement: str
) -> None:
    memory = BiasedReservoir(capacity, alpha, replacement=replacement)  # type: ignore[arg-type]
    start = 0
    for size in sizes:
        memory.admit(np.arange(start, start + size), np.arange(start, start + size) * 2)
        start += size
        assert len(memory.rows) == min(capacity, start) == len(set(memory.rows.tolist()))
        np.testing.assert_array_equal(memory.labels, memory.rows * 2)


def test_the_tail_goes_first_in_the_authors_way() -> None:
    memory = BiasedReservoir(4, dynamic(1.0), replacement="tail")
    memory.admit(np.arange(4))
    oldest = memory.rows[:2].tolist()
    for start in (4, 6):
        memory.admit(np.arange(start, start + 2))
        assert memory.rows[:2].tolist() == oldest
        assert sorted(memory.rows[2:].tolist()) == [start, start + 1]


def test_the_authors_probability_is_alpha_over_the_number_of_buckets() -> None:
    kept = np.zeros(30)
    for seed in range(SEEDS):
        memory = BiasedReservoir(5, 1.0, seed=seed, replacement="tail")
        for start in (0, 10, 20):  # each larger than the memory: cut to five first
            memory.admit(np.arange(start, start + 10))
        kept[memory.rows] += 1
    assert kept[20:].mean() / SEEDS == pytest.approx(0.5 / 3, abs=0.01)


@pytest.mark.parametrize("replacement", ["random", "tail"])
def test_a_restored_memory_goes_on_as_the_old_one(replacement: str) -> None:
    old, new = (
        BiasedReservoir(4, 2.0, seed=seed, replacement=replacement)  # type: ignore[arg-type]
        for seed in (3, 99)
    )
    old.admit(np.arange(20))
    before = old.state()
    rows = before["rows"].copy()
    new.restore(before)
    for memory in (old, new):
        memory.admit(np.arange(20, 60))
    np.testing.assert_array_equal(old.rows, new.rows)
    np.testing.assert_array_equal(before["rows"], rows)


def test_nonsense_is_refused() -> None:
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        BiasedReservoir(0)
    with pytest.raises(OnwardError, match="alpha of 0 or more, found -1"):
        BiasedReservoir(1, -1)
    with pytest.raises(OnwardError, match="'random' or 'tail', found 'head'"):
        BiasedReservoir(1, replacement="head")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [Reservoir, Balanced, BiasedReservoir])
def test_samples_may_come_in_any_sequence(make: type) -> None:
    for rows in ([1, 2, 3, 4, 5], range(1, 6), (1, 2, 3, 4, 5), np.arange(1, 6)):
        memory = make(3, seed=1)
        memory.admit(rows, [0, 1, 0, 1, 0])
        assert memory.rows.dtype == np.int64
        assert set(memory.rows.tolist()) <= {1, 2, 3, 4, 5}
        assert memory.labels.tolist() == [(row + 1) % 2 for row in memory.rows]
        memory.admit([], [])
        assert memory.rows.dtype == np.int64
        assert len(memory.rows) == 3
    with pytest.raises(OnwardError, match="a label for each of 2 samples, found 1"):
        make(3).admit([1, 2], [0])
