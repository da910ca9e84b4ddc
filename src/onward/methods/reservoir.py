"""Reservoir finetuning: train on a uniform memory of everything seen, and on nothing else."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory import Reservoir
from onward.train.kept import Kept
from onward.train.method import GradientMethod, Start, TrainingSet, check_start
from onward.types import Setting, View

if TYPE_CHECKING:
    import torch

    from onward.models import Model


class ReservoirFinetune(GradientMethod):
    """Train on a uniform memory of all samples so far, the new ones admitted first.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).

    References
    ----------
    Vitter, Random Sampling with a Reservoir, ACM Transactions on Mathematical Software 1985; as
    used in CLEAR, section 5: the memory is updated before training.
    """

    def __init__(self, *, memory: int | None = None, start: Start = "last") -> None:
        self._memory = Kept(Reservoir, memory)
        self._start = check_start(start)

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the memory, once the new samples have competed for a place in it."""
        self._memory.admit(new, budget)
        return TrainingSet(self._memory.alone(new), epoch=len(self._memory))

    def starts_from(self, model: "Model", generator: "torch.Generator") -> None:
        """Draw new weights if it starts from random ones."""
        if self._start == "random":
            model.reset(generator)

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
