"""Cumulative finetuning: keep everything, train on all of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from onward.budget import Budget
from onward.fit import FULL_MEMORY
from onward.memory import Everything
from onward.train.kept import Kept
from onward.train.method import Start, TrainingSet, check_start, number
from onward.train.rehearsal import Rehearsal
from onward.types import View


class Cumulative(Rehearsal):
    """Train on everything seen so far, by default starting from the last weights.

    TiC-CLIP calls it Cumulative-All. It stores every sample: the upper bound of what memory can
    buy, not a cheap method. With complete information it is IIRC's incremental joint training.

    Why: It tells what could be gained by a better memory, and no more than that can be.

    Known problems: Memory grows without end, and so does time where a recipe counts epochs. Where
    the data has moved on, the past holds it back.

    Parameters
    ----------
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).
    """

    needs: ClassVar[Mapping[str, str]] = {FULL_MEMORY: "to train on all of them"}

    keeps_best = True

    def __init__(self, *, start: Start = "last") -> None:
        super().__init__(Kept(Everything, None))
        self.start = check_start(start)


class CumulativeMore(Cumulative):
    """Train on everything seen so far, from the last weights, for more steps than others have.

    TiC-CLIP's Cumulative-All*, which spends more than the budget: by its compute, 1.06 times as
    much at the scales of YFCC and RedCaps, 1.3 times at M and XL, 1.52 times at L. Where the more
    goes is not said; here, it goes evenly into all periods. Only iterations are more: where a
    recipe counts epochs, this is `cumulative`.

    Why: It tells whether training on everything is held back by what it may spend.

    Known problems: It costs more than those that it stands beside.

    Parameters
    ----------
    times
        How many times the budget is spent.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024, Table 2.
    """

    def __init__(self, *, times: float = 1.3) -> None:
        super().__init__()
        self._times = number("times", times, 1.0)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose everything, for more steps."""
        return replace(super().training_data(new, budget), step_multiplier=self._times)
