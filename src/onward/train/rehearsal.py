"""What methods share that train on new samples and their memory alike."""

from typing import TYPE_CHECKING

from onward.budget import Budget
from onward.memory import Memory
from onward.train.exemplars import Exemplars
from onward.train.kept import Kept
from onward.train.method import GradientMethod, TrainingSet
from onward.types import View

if TYPE_CHECKING:
    from onward.models import Model


class Rehearsal(GradientMethod):
    """Abstract: keep a memory; in every epoch each new and each kept sample is seen once.

    Parameters
    ----------
    memory
        What is kept.
    """

    saved = ("_memory",)

    def __init__(self, memory: Kept[Memory] | Exemplars) -> None:
        self._memory = memory

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the memory alike."""
        both = self._memory.beside(new)
        return TrainingSet(both, epoch=len(both))

    def with_some(self, new: View, old: int) -> TrainingSet:
        """Choose the new samples instead, and for each batch of them so many of the memory."""
        both = self._memory.beside(new)
        return TrainingSet(both, epoch=len(new), replay=min(old, len(both) - len(new)))

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Take new samples into memory."""
        self._memory.admit(new, budget)
