import numpy as np
import pytest

from onward.errors import OnwardError
from onward.memory import Uncertain


def test_the_more_certain_half_goes() -> None:
    memory = Uncertain(6)
    memory.admit(np.arange(5), np.arange(5) % 2, np.arange(10).reshape(5, 2))
    assert not memory.full(1)
    assert memory.full(2)
    memory.halve(np.array([0.9, 0.2, 0.8, 0.1, 0.5]))
    assert memory.rows.tolist() == [1, 3]
    assert memory.logits.tolist() == [[2, 3], [6, 7]]
    assert memory.labels.tolist() == [1, 1]


def test_what_was_said_of_fewer_classes_is_filled_up() -> None:
    memory = Uncertain(6)
    memory.admit(np.arange(2), np.zeros(2, int), np.ones((2, 2)))
    memory.admit(np.arange(2, 4), np.zeros(2, int), np.ones((2, 3)))
    assert np.isnan(memory.logits).tolist() == [[False, False, True]] * 2 + [[False] * 3] * 2
    memory.admit(np.array([9]), np.array([0]))
    assert np.isnan(memory.logits[-1]).all()


def test_it_never_holds_more_than_its_capacity() -> None:
    memory = Uncertain(3)
    memory.admit(np.arange(5), np.zeros(5, int), np.ones((5, 2)))
    assert memory.rows.tolist() == [0, 1, 2]
    other = Uncertain(3)
    other.restore(memory.state())
    assert other.state().keys() == memory.state().keys()
    np.testing.assert_array_equal(other.logits, memory.logits)
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        Uncertain(0)
