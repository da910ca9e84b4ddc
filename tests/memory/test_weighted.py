import numpy as np
import pytest

from onward.errors import OnwardError
from onward.memory import Weighted


def test_rare_classes_enter_more_often_than_they_occur() -> None:
    rng = np.random.default_rng(0)
    memory = Weighted(60, seed=1)
    for start in range(0, 4000, 10):
        labels = (rng.random(10) < 0.1).astype(int)
        memory.admit(np.arange(start, start + 10), labels)
    assert len(memory.rows) == 60
    assert 0.3 < memory.labels.mean() < 0.7
    assert len(np.unique(memory.rows)) == 60


def test_chances_are_fixed_and_places_are_taken_at_random() -> None:
    memory = Weighted(20, seed=0, chances=[0.25, 1.0])
    entered, before = 0, set[int]()
    for start in range(0, 4000, 10):
        memory.admit(np.arange(start, start + 10), np.zeros(10, int))
        now = set(memory.rows.tolist())
        entered += len(now - before)
        before = now
    assert 0.2 < entered / 4000 < 0.26  # some are overwritten in the very call that they came in
    assert memory.rows.min() < 3900


def test_it_resumes() -> None:
    one, other = Weighted(5, seed=0), Weighted(5, seed=3)
    one.admit(np.arange(30), np.arange(30) % 4)
    other.restore(one.state())
    for memory in (one, other):
        memory.admit(np.arange(30, 60), np.arange(30, 60) % 4)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.labels, one.rows % 4)


def test_wrong_chances_are_named() -> None:
    with pytest.raises(OnwardError, match="from 0 to 1 for each class"):
        Weighted(5, chances=[0.5, 2])
    with pytest.raises(OnwardError, match="each of 3 classes, found 2"):
        Weighted(5, chances=[0.5, 1]).admit(np.arange(3), np.arange(3))
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        Weighted(0)
