"""A learning rate that falls as samples pass, where nobody knows how many there will be."""

from collections.abc import Sequence
from typing import Any

from onward.errors import OnwardError
from onward.types import Setting

# In memories: a drive of CLAD's length passes both.
_USUAL = (5, 10)


class Milestones:
    """Counts samples, and halves the learning rate at some of the counts.

    Parameters
    ----------
    at
        After how many samples; by default after five and ten times what the recipe's memory holds,
        and never without one.
    """

    def __init__(self, at: Sequence[int] | None) -> None:
        numbers = at if isinstance(at, list | tuple) else [at]
        if at is not None and any(type(count) is not int or count < 0 for count in numbers):
            raise OnwardError(f"expected numbers of samples to slow down at, found {at!r}")
        self._asked = None if at is None else tuple(numbers)
        self._at: Sequence[int] = ()
        self.seen = 0

    def begin(self, setting: Setting) -> None:
        """Take note of the recipe."""
        memory = setting.recipe.memory_size
        usual = () if memory is None else tuple(times * memory for times in _USUAL)
        self._at = usual if self._asked is None else self._asked

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by."""
        return float(0.5 ** sum(self.seen >= count for count in self._at))

    def count(self, new: int) -> None:
        """Note that samples were learned from."""
        self.seen += new

    def state(self) -> int:
        """Return the count."""
        return self.seen

    def restore(self, state: Any) -> None:
        """Take the count back."""
        self.seen = state
