"""Experience replay: every batch of new samples brings as many old ones along."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory import Reservoir
from onward.train.kept import Kept
from onward.train.method import GradientMethod, TrainingSet
from onward.types import Setting, View

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
        self._memory = Kept(Reservoir, memory)

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them a batch of memory."""
        replay = self.setting.recipe.batch_size if len(self._memory) else 0
        return TrainingSet(self._memory.beside(new), epoch=len(new), replay=replay)

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Let the new samples compete for a place in memory."""
        self._memory.admit(new, budget)

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)
