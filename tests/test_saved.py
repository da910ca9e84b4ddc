"""What is named in `saved` survives, or it is said why it cannot."""

import pytest
import torch

from onward.errors import OnwardError
from onward.saved import Saved


class Keeping(Saved):
    saved = ("_weights",)

    def __init__(self, start: object) -> None:
        self._weights = start


def test_tensors_by_name_come_back_as_tensors() -> None:
    first, second = Keeping({"w": torch.ones(2)}), Keeping({})
    second.restore(first.state())
    assert torch.equal(second._weights["w"], torch.ones(2))


def test_an_attribute_may_begin_and_end_as_nothing() -> None:
    again = Keeping({})
    again.restore(Keeping(None).state())
    assert again._weights is None


def test_tensors_that_begin_as_nothing_are_refused_by_name() -> None:
    state = Keeping({"w": torch.ones(2)}).state()
    with pytest.raises(OnwardError, match=r"'_weights', named in `saved` of Keeping, to start as"):
        Keeping(None).restore(state)


def test_a_name_that_is_none_is_told_with_its_class() -> None:
    class Mistyped(Keeping):
        saved = ("_wieghts",)

    with pytest.raises(OnwardError, match=r"of Mistyped '_wieghts'. Did you mean '_weights'"):
        Mistyped({}).state()
