"""What happens after a number of samples, where nothing tells that a period ends."""

from collections.abc import Sequence
from typing import Any

from onward.errors import OnwardError
from onward.types import Setting

# In memories: a drive of CLAD's length passes both.
_MILESTONES = (5, 10)


class SampleCounter:
    """Abstract: counts samples; the count is what is saved."""

    seen = 0

    def state(self) -> int:
        """Return the count."""
        return self.seen

    def restore(self, state: Any) -> None:
        """Restore the count."""
        self.seen = state


class ConsolidationTrigger(SampleCounter):
    """Says after a call whether enough samples have passed since the last consolidation.

    By default these are as many as the recipe's memory has, about a bucket online; a recipe without
    that number shows a period in one call, and every call is followed by a consolidation.
    """

    def __init__(self, samples: int | None) -> None:
        if samples is not None and (type(samples) is not int or samples < 1):
            raise OnwardError(f"expected to consolidate every 1 or more samples, found {samples!r}")
        self._samples = samples

    def begin(self, setting: Setting) -> None:
        """Take the default from the recipe."""
        self._enough = self._samples or setting.recipe.memory_size or 1

    def due(self, new: int) -> bool:
        """Count new samples, and return whether to consolidate; if so, count from zero."""
        self.seen += new
        if self.seen < self._enough:
            return False
        self.seen = 0
        return True


class LRMilestones(SampleCounter):
    """Halves the learning rate after some numbers of samples.

    By default these are five and ten times what the recipe's memory holds, and none without one.
    """

    def __init__(self, milestones: Sequence[int] | None) -> None:
        numbers = milestones if isinstance(milestones, list | tuple) else [milestones]
        if milestones is not None and any(type(n) is not int or n < 0 for n in numbers):
            raise OnwardError(f"expected numbers of samples to slow down at, found {milestones!r}")
        self._milestones = milestones if milestones is None else tuple(numbers)

    def begin(self, setting: Setting) -> None:
        """Take the default from the recipe."""
        if self._milestones is None:
            size = setting.recipe.memory_size
            self._milestones = () if size is None else tuple(n * size for n in _MILESTONES)

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by."""
        return float(0.5 ** sum(self.seen >= count for count in self._milestones or ()))
