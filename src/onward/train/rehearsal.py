"""What methods share that train on their memory: beside new samples, or alone."""

from typing import TYPE_CHECKING, Any, ClassVar

from onward.budget import Budget
from onward.memory import Memory
from onward.train.exemplars import Exemplars
from onward.train.kept import Kept
from onward.train.method import Method, Start, TrainingSet, check_start
from onward.types import View

if TYPE_CHECKING:
    from onward.models import Model


class Rehearsal(Method):
    """Abstract: keep a memory; in every epoch each new and each kept sample is seen once."""

    saved: ClassVar[tuple[str, ...]] = ("_memory",)

    def __init__(self, memory: Kept[Memory] | Exemplars) -> None:
        self._memory = memory

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the memory alike."""
        both = self._memory.beside(new)
        return TrainingSet(both, epoch=len(both))

    def with_some(self, new: View, old: int) -> TrainingSet:
        """Choose the new samples instead, and for each batch of them so many of the memory."""
        both = self._memory.beside(new)
        return TrainingSet(both, epoch=len(new), replay=min(old, len(both) - len(new)))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Take new samples into memory."""
        self._memory.admit(new, budget)


class MemoryOnly(Method):
    """Abstract: admit the new samples to memory first, then train on the memory."""

    saved = ("_memory",)

    def __init__(self, memory: Kept[Memory], start: Start) -> None:
        self._memory = memory
        self.start = check_start(start)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the memory, once the new samples have competed for a place in it."""
        self._memory.admit(new, budget)
        return TrainingSet(self._memory.alone(new), epoch=len(self._memory))

    def state(self) -> dict[str, Any]:
        """Return the memory, with nothing around it."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
