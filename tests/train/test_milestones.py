from dataclasses import replace

import pytest
from shown import RECIPE

from onward.errors import OnwardError
from onward.tasks.one_label import OneLabel
from onward.train.schedules import LRMilestones
from onward.types import Setting


def begun(at: tuple[int, ...] | None, memory: int | None) -> LRMilestones:
    found = LRMilestones(at)
    found.begin(Setting(OneLabel(), replace(RECIPE, memory_size=memory), 0))
    return found


def test_the_rate_is_halved_at_five_and_ten_memories() -> None:
    found, paces = begun(None, 20), []
    for _ in range(25):
        found.seen += 10
        paces.append(found.lr_scale)
    assert paces == [1.0] * 9 + [0.5] * 10 + [0.25] * 6
    again = begun(None, 20)
    again.restore(found.state())
    assert again.lr_scale == 0.25


def test_without_a_memory_it_never_falls_unless_it_is_asked_to() -> None:
    never, once = begun(None, None), begun((30,), None)
    for one in (never, once):
        one.seen += 10**6
    assert (never.lr_scale, once.lr_scale) == (1.0, 0.5)
    with pytest.raises(OnwardError, match="numbers of samples to slow down at"):
        LRMilestones((-1,))
