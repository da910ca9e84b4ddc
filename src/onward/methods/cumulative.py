"""Cumulative finetuning: keep everything, train on all of it."""

from onward.memory import Everything
from onward.train.kept import Kept
from onward.train.method import Start, check_start
from onward.train.rehearsal import Rehearsal


class Cumulative(Rehearsal):
    """Train on everything seen so far, by default starting from the last weights.

    TiC-CLIP calls it Cumulative-All. It stores every sample: the upper bound of what memory can
    buy, not a cheap method. With complete information it is IIRC's incremental joint training.

    Parameters
    ----------
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).
    """

    keeps_best = True

    def __init__(self, *, start: Start = "last") -> None:
        super().__init__(Kept(Everything, None))
        self.start = check_start(start)
