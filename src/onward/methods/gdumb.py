"""GDumb: keep a balanced memory, and learn from it alone, from scratch, every time."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import CLASSES
from onward.memory import GreedyBalanced
from onward.train.kept import Kept
from onward.train.rehearsal import MemoryOnly


class GDumb(MemoryOnly):
    """Train on a greedily filled, class-balanced memory only, from random weights each time.

    The greedy sampler admits a sample if its class has fewer than capacity / classes seen samples
    in memory, and removes a random sample of the largest class where the memory is full.

    Why: Whoever loses to it has learned nothing from the stream that a balanced handful of samples
    does not hold.

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

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(Kept(GreedyBalanced, memory), start="random")
