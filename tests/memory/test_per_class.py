import numpy as np
import pytest

from onward.errors import OnwardError
from onward.memory import PerClass, Quota, herd
from onward.types import Array


def units(features: Array) -> Array:
    return features / np.linalg.norm(features, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_herding_is_what_trying_every_sample_gives(seed: int) -> None:
    features = np.random.default_rng(seed).normal(size=(9, 3)) * 5
    directions, chosen = units(features), list[int]()
    for _ in range(6):
        distances = {
            one: np.linalg.norm(directions.mean(0) - directions[[*chosen, one]].mean(0))
            for one in set(range(9)) - set(chosen)
        }
        chosen.append(min(distances, key=lambda one: distances[one]))
    assert herd(features, 6).tolist() == chosen
    # Twice as long features point the same way.
    scaled = features * np.arange(1, 10)[:, None]
    assert herd(scaled, 6).tolist() == chosen
    assert sorted(herd(features, 50).tolist()) == list(range(9))


def test_a_sample_without_a_direction_is_chosen_like_any_other() -> None:
    nothing = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [0.0, 0.0]])
    assert sorted(herd(nothing, 4).tolist()) == [0, 1, 2, 3]
    # Its direction is zero, not what a division by zero makes of it.
    assert herd(nothing[:2], 1).tolist() == [0]


def test_exemplars_keep_the_labels_they_came_with() -> None:
    memory = PerClass(2, seed=0)
    memory.admit(np.arange(6), np.array([[0, -1]] * 3 + [[1, -1]] * 3))
    before = memory.rows.copy(), memory.labels.copy()
    # The samples of class 0 come again as those of its subclass 2.
    memory.admit(np.arange(3), np.array([[2, -1]] * 3))
    np.testing.assert_array_equal(memory.rows[:4], before[0])
    np.testing.assert_array_equal(memory.labels[:4], before[1])
    assert memory.newest.tolist() == [0, 0, 1, 1, 2, 2]
    assert set(memory.rows[4:]) <= {0, 1, 2}


def test_exemplars_are_herded_where_there_are_features() -> None:
    features = np.random.default_rng(0).normal(size=(10, 4))
    memory, labels = PerClass(3), np.array([0, 1] * 5)
    memory.admit(np.arange(10), labels, features)
    for label in (0, 1):
        here = np.flatnonzero(labels == label)
        expected = here[herd(features[here], 3)]
        assert memory.rows[memory.labels == label].tolist() == expected.tolist()


def test_a_class_that_came_with_few_samples_is_filled_up_later() -> None:
    memory = PerClass(3)
    for first in range(0, 10, 2):
        memory.admit(np.arange(first, first + 2), np.zeros(2, int))
    assert memory.rows.tolist()[:2] in ([0, 1], [1, 0])
    assert len(memory.rows) == 3
    assert memory.rows[2] in (2, 3)


@pytest.mark.parametrize("kind", [PerClass, Quota])
def test_a_memory_goes_on_where_it_was(kind: type[PerClass] | type[Quota]) -> None:
    one, other = kind(4, seed=7), kind(4, seed=8)
    one.admit(np.arange(20), np.arange(20) % 3)
    other.restore(one.state())
    for memory in (one, other):
        memory.admit(np.arange(20, 40), np.arange(20) % 5)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_a_quota_falls_as_classes_come() -> None:
    memory, seen = Quota(100, seed=0), 0
    # IIRC's released numbers, a hundred times smaller: 13 of one class until there are 8 of them.
    for classes in (5, 8, 10, 11):
        new = np.repeat(np.arange(seen, classes), 13)
        memory.admit(np.arange(1000 * seen, 1000 * seen + len(new)), new)
        seen = classes
        share = -(-100 // classes)
        assert np.bincount(memory.labels).tolist() == [min(13, share)] * classes
    first = Quota(10**6, seed=0)
    first.admit(np.arange(30), np.zeros(30, int))
    assert len(first.rows) == 30


def test_a_memory_of_none_per_class_is_refused() -> None:
    with pytest.raises(OnwardError, match="1 or more samples of a class, found 0"):
        PerClass(0)


@pytest.mark.parametrize("features", [None, np.random.default_rng(1).normal(size=(12, 4))])
def test_with_less_room_those_go_that_were_chosen_last(features: Array | None) -> None:
    labels, small, large = np.array([0, 1, 2] * 4), PerClass(2, seed=5), PerClass(4, seed=5)
    for memory in (small, large):
        memory.admit(np.arange(12), labels, features)
    large.shrink(5)
    assert len(large.rows) == 12, "there is room for more than there is"
    large.shrink(2)
    np.testing.assert_array_equal(large.rows, small.rows)
    np.testing.assert_array_equal(large.labels, small.labels)
    # It stays so, also in another process.
    again = PerClass(4, seed=5)
    again.restore(large.state())
    again.admit(np.arange(12, 24), labels)
    np.testing.assert_array_equal(again.rows, small.rows)
    again.shrink(0)
    again.admit(np.arange(24, 36), labels)
    assert not len(again.rows)
