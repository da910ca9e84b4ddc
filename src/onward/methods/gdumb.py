"""GDumb: keep a balanced memory, and learn from it alone, from scratch, every time."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory import Balanced
from onward.train.kept import Kept
from onward.train.method import GradientMethod, TrainingSet
from onward.types import Setting, View

if TYPE_CHECKING:
    import torch

    from onward.models import Model


class GDumb(GradientMethod):
    """Train on a class-balanced memory only, starting from random weights each time.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020.
    """

    def __init__(self, *, memory: int | None = None) -> None:
        self._memory = Kept(Balanced, memory)

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the memory, once the new samples have competed for a place in it."""
        self._memory.admit(new, budget)
        return TrainingSet(self._memory.alone(new), epoch=len(self._memory))

    def starts_from(self, model: "Model", generator: "torch.Generator") -> None:
        """Draw new weights."""
        model.reset(generator)

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
