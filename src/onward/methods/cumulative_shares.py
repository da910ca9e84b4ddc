"""Cumulative finetuning on a bounded past: about as many old samples as new ones."""

import math
from typing import TYPE_CHECKING

from onward.budget import Budget
from onward.memory.by_step import ByStep, Rule
from onward.train.method import Method, TrainingSet
from onward.types import Setting, View

if TYPE_CHECKING:
    from onward.models import Model

# Online, where a recipe does not say how large a memory is.
_MEMORY_SIZE = 1000


class CumulativeShares(Method):
    """Abstract: train on new samples and on a share of every earlier period, from the last weights.

    A sample that was removed does not come back.

    Online nothing tells where a period ends: there, as many samples as fit into half of the
    recipe's memory are one, and every batch brings as many old samples along as new ones.
    """

    saved = ("_memory", "_room")
    RULE: Rule

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory = ByStep(self.RULE, seed=setting.seed)
        # Online, how many more samples the present period may have.
        self._room = 0

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and the shares of the earlier periods beside them."""
        recipe, online = self.setting.recipe, self.setting.online
        self._same_period = online and len(new) <= self._room
        if not self._same_period:
            self._room = earlier = len(new)
            if online:
                limit = budget.limits.get("stored_samples", math.inf)
                size = int(min(recipe.memory_size or _MEMORY_SIZE, limit))
                self._room = size // 2
                earlier = max(min(self._room, size - len(new)), 0)
            self._memory.make_room(earlier)
        old = len(self._memory.rows)
        both = new.also(self._memory.rows, self._memory.labels) if old else new
        if not online:
            return TrainingSet(both, epoch=len(both))
        return TrainingSet(both, epoch=len(new), replay=min(recipe.batch_size, old))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Keep all of the new samples until the next period comes."""
        self._memory.admit(new.rows, new.labels, same_step=self._same_period)
        budget.hold(self._memory.rows)
        self._room -= len(new)


class CumulativeExp(CumulativeShares):
    """Train on new samples and as many old ones, each period giving half of what the next one does.

    Why: It has most of what keeping everything gives, at twice the samples of a period, and prefers
    what is recent.

    Known problems: Early periods fade to a handful of samples.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Exp).
    """

    RULE = "exp"


class CumulativeEqual(CumulativeShares):
    """Train on new samples and as many old ones, an equal share of each earlier period.

    Why: It has most of what keeping everything gives, at twice the samples of a period, and no
    period is preferred.

    Known problems: The more periods there were, the less is left of each.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Equal).
    """

    RULE = "equal"
