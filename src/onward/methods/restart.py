"""From scratch on everything: what starting over costs, within the budget and beyond it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from onward.budget import Budget
from onward.fit import FULL_MEMORY
from onward.memory import Everything
from onward.train.kept import Kept
from onward.train.method import Start, TrainingSet
from onward.train.rehearsal import Rehearsal
from onward.types import View


class Restart(Rehearsal):
    """Train on everything seen so far, from random weights each time, as long as any other method.

    Where a recipe counts epochs and not iterations, more samples are more steps, and this is
    `cumulative` from scratch.

    Why: It is what many people do when a model has gone stale, for the same compute as any other
    way.

    Known problems: The more there is to learn from, the less often each sample is seen.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Restart).
    """

    needs: ClassVar[Mapping[str, str]] = {FULL_MEMORY: "to train on all of them"}

    start: Start = "random"

    def __init__(self) -> None:
        super().__init__(Kept(Everything, None))


class Oracle(Restart):
    """Train on everything seen so far, from random weights, in the t-th period t times as long.

    What starting over could be with all the time that it needs: where a recipe counts iterations,
    it spends (T + 1) / 2 times the budget of T periods.

    Why: It is the mark that all ways of going on are measured by.

    Known problems: Its price grows with the square of the number of periods.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Oracle).
    """

    saved = (*Restart.saved, "_periods")

    def __init__(self) -> None:
        super().__init__()
        self._periods = 0

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose everything, for as many times the steps as there have been periods."""
        self._periods += 1
        return replace(super().training_data(new, budget), step_multiplier=float(self._periods))
