"""Oversampling replay: every batch is filled up from memory until no class is rare in it."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from onward.budget import Budget
from onward.fit import CLASSES
from onward.memory import Shares
from onward.train.method import TrainingSet
from onward.train.replay_memory import ReplayMemory, ReplayMethod
from onward.types import Rows, View


class Oversample(ReplayMethod):
    """Fill each batch up with old samples of the classes that are rare in it.

    Of b new samples and C classes, each class is to have at least 2b/C samples in a batch. What is
    missing is drawn from memory, where a class has any: without repeating a sample, unless there
    are too few.

    The paper leaves open how its memory, which all classes share equally, is filled: here by a
    reservoir for each class.

    Why: Where classes change with day and night, a batch may have one class alone; here none has.

    Known problems: A batch may become three times as long. The same few rare samples are repeated.

    Parameters
    ----------
    memory
        How many samples all classes share; by default what the recipe says, or one bucket.

    References
    ----------
    Verwimp et al., CLAD, Neural Networks 2023, section 3.3.
    """

    needs: ClassVar[Mapping[str, str]] = {CLASSES: "to see which are rare in a batch"}

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(ReplayMemory(Shares, memory))

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them what its rare classes lack."""
        both, classes = self._memory.with_replay(new), len(new.classes)
        most, labels = classes * share_of(self.setting.recipe.batch_size, classes), both.newest

        def draw(chosen: Rows, rng: np.random.Generator) -> Rows:
            # An image without boxes has no class.
            present = labels[chosen][labels[chosen] >= 0]
            missing = share_of(len(chosen), classes) - np.bincount(present, minlength=classes)
            drawn = [np.empty(0, np.int64)]
            for label in np.flatnonzero(missing > 0):
                here = len(new) + np.flatnonzero(labels[len(new) :] == label)
                if len(here):
                    count = missing[label]
                    drawn.append(rng.choice(here, count, replace=count > len(here)))
            return np.concatenate(drawn)

        return TrainingSet(both, epoch=len(new), replay=most, draw=draw)


def share_of(new: int, classes: int) -> int:
    """Return how many samples each class has at least, beside so many new ones.

    Examples
    --------
    >>> share_of(10, 6)
    4
    """
    return -(-2 * new // classes)
