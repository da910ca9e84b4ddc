"""What each class may keep of a total that all of them share."""

import numpy as np

from onward.memory import Quota


def test_one_class_has_all_of_it() -> None:
    memory = Quota(4)
    memory.admit(np.arange(9), np.zeros(9, np.int64))
    assert len(memory.rows) == 4


def test_nothing_comes_of_nothing() -> None:
    memory = Quota(4)
    memory.admit(np.empty(0, np.int64), np.empty(0, np.int64))
    assert len(memory.rows) == 0
