"""Experience replay: every batch of new samples brings as many old ones along."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory import Reservoir
from onward.train.method import GradientMethod, TrainingSet
from onward.types import View

if TYPE_CHECKING:
    from onward.models import Model


class ER(GradientMethod):
    """Train on new samples mixed half and half with a uniform memory of old ones.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says. CLEAR's "one bucket" is the
        size of the first view: where later periods are larger, the memory does not grow.

    References
    ----------
    Rolnick et al., Experience Replay for Continual Learning, NeurIPS 2019; as in CLEAR's
    appendix, a batch of memory beside every batch of new samples.
    """

    def __init__(self, *, memory: int | None = None) -> None:
        self._capacity = memory
        self._memory: Reservoir | None = None

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them a batch of memory."""
        if self._memory is None:
            return TrainingSet(new, epoch=len(new))
        both = new.also(self._memory.rows, self._memory.labels)
        return TrainingSet(both, epoch=len(new), replay=self.setting.recipe.batch_size)

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Let the new samples compete for a place in memory."""
        memory = self._memory or self._reservoir(
            self._capacity or self.setting.recipe.memory or len(new)
        )
        memory.admit(new.rows, new.labels)
        budget.hold(memory.rows)
        self._memory = memory

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        if self._memory is None:
            return {}
        return {"capacity": self._memory.capacity, "memory": self._memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory = None
        if state:
            self._memory = self._reservoir(state["capacity"])
            self._memory.restore(state["memory"])

    def _reservoir(self, capacity: int) -> Reservoir:
        return Reservoir(capacity, seed=self.setting.seed)
