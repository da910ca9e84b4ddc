"""When to consolidate, where nothing tells that a period ends."""

from typing import Any

from onward.errors import OnwardError
from onward.types import Setting


class Every:
    """Says after a call whether enough samples have passed since the last consolidation.

    Parameters
    ----------
    samples
        How many are enough. By default what the recipe gives a memory, which is about a bucket
        online; a recipe that leaves this open shows a period in one call, and every call is
        followed by a consolidation.
    """

    def __init__(self, samples: int | None) -> None:
        if samples is not None and (type(samples) is not int or samples < 1):
            raise OnwardError(f"expected to consolidate every 1 or more samples, found {samples!r}")
        self._samples = samples
        self._since = 0

    def begin(self, setting: Setting) -> None:
        """Take note of the recipe."""
        self._enough = self._samples or setting.recipe.memory_size or 1

    @property
    def begins(self) -> bool:
        """Whether no sample has come since the last consolidation."""
        return self._since == 0

    def due(self, new: int) -> bool:
        """Count new samples; say whether it is time, and if so count from zero."""
        self._since += new
        if self._since < self._enough:
            return False
        self._since = 0
        return True

    def state(self) -> int:
        """Return the count."""
        return self._since

    def restore(self, state: Any) -> None:
        """Take the count back."""
        self._since = state
