"""Replay of everything seen so far: finetuning and restarting on all of it, and ER-infinite."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from onward.budget import Budget
from onward.fit import FULL_MEMORY
from onward.memory import Everything, Quota
from onward.train.method import Start, TrainingSet, check_start, number
from onward.train.replay_memory import ReplayMemory, ReplayMethod, check_memory_size
from onward.types import View


class Cumulative(ReplayMethod):
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
        super().__init__(ReplayMemory(Everything, None))
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


class Restart(ReplayMethod):
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

    needs: ClassVar[Mapping[str, str]] = Cumulative.needs

    start: Start = "random"

    def __init__(self) -> None:
        super().__init__(ReplayMemory(Everything, None))


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


class ERInfinite(ReplayMethod):
    """Train on everything seen so far, each sample with the labels that it had when it came.

    Without a capacity this is `cumulative`; IIRC's released code has one of 100,000.

    Why: Beside ER it tells how much is lost by a small memory, and how much by labels that were
    never completed.

    Known problems: A label of then may be half of the truth of now, and it is taught again and
    again.

    Parameters
    ----------
    capacity
        How many samples all classes seen so far share evenly, rounded up; by default all are kept.

    References
    ----------
    Abdelsalam et al., IIRC, CVPR 2021, section 4.
    """

    needs: ClassVar[Mapping[str, str]] = {FULL_MEMORY: "to replay all of them"}

    keeps_best = True

    def __init__(self, *, capacity: int | None = None) -> None:
        kind = Everything if check_memory_size(capacity) is None else Quota
        super().__init__(ReplayMemory(kind, capacity))
