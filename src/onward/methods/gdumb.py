"""GDumb: store a class-balanced memory, and learn from it alone, from scratch, every time."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import CLASSES
from onward.memory import Balanced, GreedyBalanced, Memory
from onward.train.replay_memory import MemoryOnlyMethod, ReplayMemory


class GDumb(MemoryOnlyMethod):
    """Train on a greedily filled, class-balanced memory only, from random weights each time.

    The greedy sampler admits a sample if its class has fewer than capacity / classes seen samples
    in memory, and removes a random sample of the largest class where the memory is full.

    Why: A method that is worse has learned nothing from the stream that a small balanced memory
    does not contain.

    Known problems: The sampler refuses samples of full classes. Once the memory is full and no new
    class arrives, it hardly changes: with the default size and balanced classes, the model is
    trained on the first period again and again. `gdumb_reservoir` samples all periods instead.
    It starts over in every call, online too: a hundred steps for ten new samples.

    Parameters
    ----------
    memory
        The number of stored samples; by default what the recipe says, or the size of the first
        period.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020.
    """

    needs: ClassVar[Mapping[str, str]] = {CLASSES: "to balance its memory"}
    SAMPLER: ClassVar[type[Memory]] = GreedyBalanced

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(ReplayMemory(self.SAMPLER, memory), start="random")


class GDumbReservoir(GDumb):
    """Train on a class-balanced reservoir only, starting from random weights each time.

    It differs from `gdumb` in its memory: the stored samples of a class are a uniform sample of all
    samples of that class so far, where the greedy sampler keeps the first ones.

    Why: On data that change over time the first samples of a class become outdated. A reservoir
    represents all periods, so the difference to `gdumb` is the value of updating the memory. The
    released code of CLEAR and later versions of Avalanche have a memory of this kind in what they
    call GDumb.

    Known problems: It starts over in every call, online too: a hundred steps for ten new samples.

    Parameters
    ----------
    memory
        The number of stored samples; by default what the recipe says, or the size of the first
        period.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020, with another sampler.
    """

    SAMPLER = Balanced
