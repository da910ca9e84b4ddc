"""Finetuning, and two references: never updating the model, and training it from scratch."""

from onward.budget import Budget
from onward.train.method import Method, Start, TrainingSet
from onward.types import View


class Finetune(Method):
    """Train on what is new, starting from the last weights. TiC-CLIP calls it Sequential.

    Why: It is the cheapest method, and the baseline of all others. Where only the near future is
    tested, few are better.

    Known problems: Classes and domains that new samples do not show are forgotten.
    """

    keeps_best = True


class Nap(Method):
    """Train on the first view and on nothing after it, to see how outdated a model becomes.

    Why: What a model loses without updates shows how much the data change.

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

    Why: The difference to finetuning is the value of the old weights.

    Known problems: It knows nothing but what the last period shows.

    References
    ----------
    CLEAR supplement, section 5.
    """

    start: Start = "random"
