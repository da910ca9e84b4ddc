import numpy as np

from onward.memory import Shares


def filled(capacity: int, most: int | None = None, seed: int = 0) -> Shares:
    """Two calls: many of class 0, then a few of 1 and 2, then many of 0 again."""
    memory = Shares(capacity, seed, most)
    for rows, labels in (
        (np.arange(50), np.zeros(50, int)),
        (np.arange(50, 55), np.array([1, 1, 1, 2, 0])),
        (np.arange(55, 105), np.zeros(50, int)),
    ):
        memory.admit(rows, labels)
    return memory


def test_no_class_takes_more_than_its_share_though_others_leave_theirs_empty() -> None:
    assert np.bincount(filled(31).labels).tolist() == [10, 3, 1]
    assert np.bincount(filled(31, most=4).labels).tolist() == [4, 3, 1]


def test_it_never_holds_more_than_its_capacity_and_starts_with_all_of_it() -> None:
    memory = Shares(10)
    memory.admit(np.arange(40), np.zeros(40, int))
    assert len(memory.rows) == 10
    for capacity in (1, 2, 7):
        assert len(filled(capacity).rows) <= capacity
    assert len(filled(2).rows) == 2


def test_a_share_is_a_uniform_sample_of_its_class() -> None:
    memories = [filled(12, seed=seed) for seed in range(400)]
    late = [np.mean(memory.rows[memory.labels == 0] >= 55) for memory in memories]
    assert abs(np.mean(late) - 50 / 101) < 0.05


def test_it_resumes() -> None:
    one, other = filled(9), Shares(9, seed=5)
    other.restore(one.state())
    for memory in (one, other):
        memory.admit(np.arange(200, 240), np.arange(40) % 3)
    np.testing.assert_array_equal(one.rows, other.rows)
