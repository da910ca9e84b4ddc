"""GDumb with a reservoir for each class in place of the greedy sampler."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import CLASSES
from onward.memory import Balanced
from onward.train.kept import Kept
from onward.train.rehearsal import MemoryOnly


class GDumbReservoir(MemoryOnly):
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

    needs: ClassVar[Mapping[str, str]] = {CLASSES: "to balance its memory"}

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(Kept(Balanced, memory), start="random")
