"""Reservoir finetuning: train on a uniform memory of everything seen, and on nothing else."""

from onward.memory import Reservoir
from onward.train.kept import Kept
from onward.train.method import Start
from onward.train.rehearsal import MemoryOnly


class ReservoirFinetune(MemoryOnly):
    """Train on a uniform memory of all samples so far, the new ones admitted first.

    Why: A uniform sample is the fairest summary of the past in bounded room.

    Known problems: A new period has an ever smaller part of it, so it follows drift ever more
    slowly.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).

    References
    ----------
    Vitter, Random Sampling with a Reservoir, ACM Transactions on Mathematical Software 1985; as
    used in CLEAR, section 5: the memory is updated before training.
    """

    def __init__(self, *, memory: int | None = None, start: Start = "last") -> None:
        super().__init__(Kept(Reservoir, memory), start)
