"""Napping: learn once, then sleep."""

from onward.budget import Budget
from onward.train.method import Method, TrainingSet
from onward.types import View


class Nap(Method):
    """Train on the first view and on nothing after it, to see how stale a model goes.

    Why: What a model loses that is never updated shows how much the data moves.

    Known problems: Classes that arrive later are never learned.

    References
    ----------
    CLEAR supplement, section 5.
    """

    saved = ("_asleep",)

    def __init__(self) -> None:
        self._asleep = False

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the first view whole, and nothing of any later one."""
        training = TrainingSet(new, epoch=0 if self._asleep else len(new))
        self._asleep = True
        return training
