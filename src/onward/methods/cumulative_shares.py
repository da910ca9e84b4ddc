"""Cumulative finetuning on a bounded past: about as many old samples as new ones."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory.by_step import ByStep, Rule
from onward.train.method import GradientMethod, TrainingSet
from onward.types import Setting, View

if TYPE_CHECKING:
    from onward.models import Model


class CumulativeShares(GradientMethod):
    """Abstract: train on new samples and on a share of every earlier period, from the last weights.

    What a period once let go does not come back.
    """

    RULE: Rule

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory = ByStep(self.RULE, seed=setting.seed)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and the shares of the earlier periods beside them."""
        self._memory.make_room(len(new))
        both = new.also(self._memory.rows, self._memory.labels) if len(self._memory.rows) else new
        return TrainingSet(both, epoch=len(both))

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Keep all of the new samples until the next ones come."""
        self._memory.admit(new.rows, new.labels)
        budget.hold(self._memory.rows)

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return {"memory": self._memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state["memory"])


class CumulativeExp(CumulativeShares):
    """Train on new samples and as many old ones, each period giving half of what the next one does.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Exp).
    """

    RULE = "exp"


class CumulativeEqual(CumulativeShares):
    """Train on new samples and as many old ones, an equal share of each earlier period.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Equal).
    """

    RULE = "equal"
