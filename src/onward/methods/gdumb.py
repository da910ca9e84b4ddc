"""GDumb: keep a balanced memory, and learn from it alone, from scratch, every time."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import CLASSES
from onward.memory import Balanced
from onward.train.kept import Kept
from onward.train.rehearsal import MemoryOnly


class GDumb(MemoryOnly):
    """Train on a class-balanced memory only, starting from random weights each time.

    Why: Whoever loses to it has learned nothing from the stream that a balanced handful of samples
    does not hold.

    Known problems: It starts over in every call, online too: a hundred steps for ten new samples.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.

    References
    ----------
    Prabhu, Torr and Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual
    Learning, ECCV 2020.
    """

    needs: ClassVar[Mapping[str, str]] = {CLASSES: "to balance its memory"}

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(Kept(Balanced, memory), start="random")
