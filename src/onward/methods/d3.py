"""CLAD-D's third winner: two old images for every two new ones."""

from onward.budget import Budget
from onward.memory import Reservoir
from onward.train.method import TrainingSet
from onward.train.replay_memory import ReplayMemory, ReplayMethod
from onward.types import View

_EACH = 2


class D3(ReplayMethod):
    """Train on batches of two new images and two old ones, which were stored at random.

    CLAD's section 4.2 says no more about its learning. In the first period there is nothing to
    replay, and it is trained as the recipe says. Later it takes as many steps as others take with
    the recipe's batches, so that it sees fewer epochs in smaller batches: our choice, since others
    would otherwise be compared with a longer training.

    Why: Plain replay, with nothing else, tells what the other parts of the others are worth.

    Known problems: Batches of four are noisy.

    Parameters
    ----------
    memory
        How many images are kept; by default what the recipe says.

    References
    ----------
    Verwimp et al., CLAD, Neural Networks 2023, section 4.2.
    """

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(ReplayMemory(Reservoir, memory))

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose two new images and two old ones for every batch."""
        both = self._memory.with_replay(new)
        replay, batch = (_EACH, _EACH) if len(self._memory) else (0, None)
        return TrainingSet(both, epoch=len(new), replay=replay, batch=batch)
