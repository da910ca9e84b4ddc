"""Finetuning, and two references: never updating the model, and training it from scratch."""

from onward.budget import Budget
from onward.train.method import Method, Start, TrainingSet
from onward.types import View


class Finetune(Method):
    """Train on what is new, starting from the last weights. TiC-CLIP calls it Sequential.

    Why: It is the cheapest way to go on, and what all others have to beat. Where only the near
    future is asked for, few do.

    Known problems: What new samples do not show is forgotten; where classes come one after the
    other, little of the old ones is left.
    """

    keeps_best = True


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


class Scratch(Method):
    """Train on what is new, starting from random weights each time.

    Why: The difference to finetuning is what old weights are worth.

    Known problems: What a small period does not show, it does not know.

    References
    ----------
    CLEAR supplement, section 5.
    """

    start: Start = "random"
