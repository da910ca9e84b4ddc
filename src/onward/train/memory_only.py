"""What methods share that train on their memory and on nothing else."""

from typing import Any

from onward.budget import Budget
from onward.memory import Memory
from onward.train.kept import Kept
from onward.train.method import GradientMethod, Start, TrainingSet, check_start
from onward.types import View


class MemoryOnly(GradientMethod):
    """Abstract: admit the new samples to memory first, then train on the memory.

    Parameters
    ----------
    memory
        Decides which samples stay.
    start
        Which weights to start from: the ``last`` or ``random`` ones.
    """

    saved = ("_memory",)

    def __init__(self, memory: Kept[Memory], start: Start) -> None:
        self._memory = memory
        self.start = check_start(start)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the memory, once the new samples have competed for a place in it."""
        self._memory.admit(new, budget)
        return TrainingSet(self._memory.alone(new), epoch=len(self._memory))

    def state(self) -> dict[str, Any]:
        """Return the memory, with nothing around it."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
