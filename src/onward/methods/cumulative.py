"""Cumulative finetuning: keep everything, train on all of it."""

from typing import Any

from onward.budget import Budget
from onward.memory import Everything
from onward.train.method import GradientMethod, Start, TrainingSet, check_start
from onward.types import View


class Cumulative(GradientMethod):
    """Train on everything seen so far, by default starting from the last weights.

    TiC-CLIP calls it Cumulative-All. It stores every sample: the upper bound of what memory can
    buy, not a cheap method.

    Parameters
    ----------
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).
    """

    def __init__(self, *, start: Start = "last") -> None:
        self._memory = Everything()
        self.start = check_start(start)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and all old ones alike."""
        everything = new.also(self._memory.rows, self._memory.labels)
        self._memory.admit(new.rows, new.labels)
        budget.hold(self._memory.rows)
        return TrainingSet(everything, epoch=len(everything))

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
