from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from onward.errors import OnwardError
from onward.memory import MEMORIES, Balanced, GreedyBalanced

SEEDS = 2000


class Algorithm1:
    """The greedy sampler of the GDumb paper, written as its pseudo code: one sample per call."""

    def __init__(self, k: int, seed: int) -> None:
        self.k, self.stored, self.seen = k, list[tuple[int, int]](), set[int]()
        self.generator = np.random.default_rng(seed)

    def sample(self, x: int, y: int) -> None:
        counter = Counter(label for _, label in self.stored)
        if y not in self.seen or counter[y] < self.k / len(self.seen):
            if len(self.stored) >= self.k:
                most = max(counter.values())
                largest = sorted(label for label in counter if counter[label] == most)
                loser = largest[self.generator.integers(len(largest))]
                of_loser = [pair for pair in self.stored if pair[1] == loser]
                self.stored.remove(of_loser[self.generator.integers(most)])
            self.stored.append((x, y))
            self.seen.add(y)


VIEWS = st.lists(st.lists(st.integers(0, 4), max_size=15), max_size=8)


@given(st.integers(1, 12), VIEWS, st.integers(0, 3))
def test_greedy_balanced_equals_the_published_pseudo_code(
    capacity: int, views: list[list[int]], seed: int
) -> None:
    memory, reference, start = GreedyBalanced(capacity, seed), Algorithm1(capacity, seed), 0
    for labels in views:
        rows = np.arange(start, start + len(labels))
        memory.admit(rows, np.array(labels, np.int64))
        for row, label in zip(rows.tolist(), labels, strict=True):
            reference.sample(row, label)
        start += len(labels)
        assert list(zip(memory.rows.tolist(), memory.labels.tolist(), strict=True)) == (
            reference.stored
        )


@given(st.integers(1, 12), VIEWS)
def test_memory_is_never_above_capacity_and_has_no_duplicates(
    capacity: int, views: list[list[int]]
) -> None:
    memory, start = GreedyBalanced(capacity), 0
    for labels in views:
        memory.admit(np.arange(start, start + len(labels)), np.array(labels, np.int64))
        start += len(labels)
        assert len(memory.rows) == len(memory.labels) <= capacity
        assert len(set(memory.rows.tolist())) == len(memory.rows)


def test_one_class_keeps_its_first_samples() -> None:
    memory = GreedyBalanced(330)
    for rows in np.split(np.arange(3300), 10):
        memory.admit(rows, np.zeros(330, int))
    np.testing.assert_array_equal(memory.rows, np.arange(330))


def test_mean_row_of_eleven_classes_is_that_of_their_first_samples() -> None:
    # The quota is 330 / 11 = 30. In a random order of 300 samples of each class, the j-th sample
    # of a class is expected at row j * 3301 / 301 - 1, so the mean over j = 1, ..., 30 is
    # 15.5 * 3301 / 301 - 1 = 169.0. A class-balanced reservoir has a mean of 3299 / 2 = 1649.5.
    greedy, reservoir = [], []
    for seed in range(100):
        labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(11), 300))
        for memory, means in ((GreedyBalanced(330), greedy), (Balanced(330, seed), reservoir)):
            for rows in np.split(np.arange(3300), 10):
                memory.admit(rows, labels[rows])
            means.append(memory.rows.mean())
            if isinstance(memory, GreedyBalanced):
                first = [np.flatnonzero(labels == label)[:30] for label in range(11)]
                np.testing.assert_array_equal(memory.rows, np.sort(np.concatenate(first)))
    assert np.mean(greedy) == pytest.approx(15.5 * 3301 / 301 - 1, abs=3)
    assert np.mean(reservoir) == pytest.approx(1649.5, abs=30)


def test_classes_shrink_only_when_room_is_needed() -> None:
    memory = GreedyBalanced(6)
    memory.admit(np.arange(6), np.zeros(6, int))
    sizes = []
    for row in range(6, 12):
        memory.admit([row], [1])
        sizes.append(np.bincount(memory.labels, minlength=2).tolist())
    assert sizes == [[5, 1], [4, 2], [3, 3], [3, 3], [3, 3], [3, 3]]


def test_with_fewer_places_than_classes_only_classes_without_samples_are_admitted() -> None:
    memory = GreedyBalanced(2)
    memory.admit(np.arange(5), np.arange(5))
    assert len(memory.rows) == 2
    stored = memory.labels.tolist()
    rows = memory.rows.copy()
    memory.admit([5, 6], stored)
    np.testing.assert_array_equal(memory.rows, rows)
    absent = next(label for label in range(5) if label not in stored)
    memory.admit([7], [absent])
    assert absent in memory.labels
    assert len(memory.rows) == 2


@pytest.mark.parametrize("labels", [[0] * 6, [0, 1] * 3], ids=["one class", "tied classes"])
def test_removed_samples_are_drawn_uniformly(labels: list[int]) -> None:
    removed = np.zeros(6)
    for seed in range(SEEDS):
        memory = GreedyBalanced(6, seed=seed)
        memory.admit(np.arange(7), [*labels, 2])
        (gone,) = set(range(6)) - set(memory.rows.tolist())
        removed[gone] += 1
    assert chisquare(removed).pvalue > 1e-4


def test_the_largest_class_loses_samples_first() -> None:
    for seed in range(50):
        memory = GreedyBalanced(6, seed=seed)
        memory.admit(np.arange(6), [0, 0, 0, 0, 1, 1])
        memory.admit([6], [2])
        assert np.bincount(memory.labels).tolist() == [3, 2, 1]


def test_a_sample_with_several_labels_counts_for_its_newest() -> None:
    memory = GreedyBalanced(2)
    memory.admit([0, 1, 2], [[0, -1], [0, -1], [0, 1]])
    assert memory.samples.newest.tolist() == [0, 1]
    memory.admit([3], [[0, 1]])
    assert 3 not in memory.rows


def test_restored_memory_continues_with_the_same_draws() -> None:
    old, new = GreedyBalanced(5, seed=3), GreedyBalanced(5, seed=0)
    old.admit(np.arange(20), np.arange(20) % 3)
    new.restore(old.state())
    for memory in (old, new):
        memory.admit(np.arange(20, 60), np.arange(40) % 7)
    np.testing.assert_array_equal(old.rows, new.rows)
    np.testing.assert_array_equal(old.labels, new.labels)


def test_state_includes_classes_without_stored_samples() -> None:
    old = GreedyBalanced(2, seed=0)
    old.admit(np.arange(4), np.arange(4))
    new = GreedyBalanced(2, seed=0)
    new.restore(old.state())
    # Four classes were seen, so a quota of half a sample refuses a second one of a stored class.
    stored = new.labels[:1].tolist()
    new.admit([9], stored)
    assert 9 not in new.rows


def test_equal_seeds_draw_equal_samples() -> None:
    labels = np.random.default_rng(0).integers(0, 7, 500)
    found = []
    for seed in (0, 0, 1):
        memory = GreedyBalanced(20, seed=seed)
        memory.admit(np.arange(500), labels)
        found.append(memory.rows.tolist())
    assert found[0] == found[1] != found[2]


def test_it_is_in_the_catalogue_and_refuses_a_capacity_of_zero() -> None:
    assert MEMORIES.find("greedy_balanced") is GreedyBalanced
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        GreedyBalanced(0)
