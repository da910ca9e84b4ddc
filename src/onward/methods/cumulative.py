"""Replay of everything seen so far, or of a share of every period: TiC-CLIP, and ER-infinite."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.fit import FULL_MEMORY
from onward.memory import Everything, Quota
from onward.memory.by_step import ByStep, Rule
from onward.train.method import Method, Start, TrainingSet, check_start, number
from onward.train.replay_memory import ReplayMemory, ReplayMethod, check_memory_size
from onward.types import Setting, View

if TYPE_CHECKING:
    from onward.models import Model

# Of a share of every period online, where a recipe does not say how large a memory is.
_MEMORY_SIZE = 1000


class Cumulative(ReplayMethod):
    """Train on everything seen so far, by default starting from the last weights.

    TiC-CLIP calls it Cumulative-All. It stores every sample: the upper bound of what memory can
    buy, not a cheap method. With complete information it is IIRC's incremental joint training.

    Why: It is an upper bound of what a better memory can gain.

    Known problems: Memory grows without bound, and so does time where a recipe counts epochs. Where
    the data has changed, old samples hurt.

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
    much at the scales of YFCC and RedCaps, 1.3 times at M and XL, 1.52 times at L. The paper
    does not say where it is spent; here, evenly over all periods. Only iterations are multiplied:
    where a recipe counts epochs, this is `cumulative`.

    Why: It tells whether training on everything is limited by its budget.

    Known problems: It costs more than the methods that it is compared with.

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


class Restart(Cumulative):
    """Train on everything seen so far, from random weights each time, as long as any other method.

    Where a recipe counts epochs and not iterations, more samples are more steps, and this is
    `cumulative` from scratch.

    Why: It is what many people do with an outdated model, for the same compute as other methods.

    Known problems: The more there is to learn from, the less often each sample is seen.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Restart).
    """

    keeps_best = False

    def __init__(self) -> None:
        super().__init__(start="random")


class Oracle(Restart):
    """Train on everything seen so far, from random weights, in the t-th period t times as long.

    Where a recipe counts iterations, it spends (T + 1) / 2 times the budget of T periods.

    Why: It is the reference for all ways of continuing.

    Known problems: Its cost grows with the square of the number of periods.

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

    Known problems: A stored label may be incomplete by now, and is learned again and again.

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


class CumulativeShares(Method):
    """Abstract: train on new samples and on a share of every earlier period, from the last weights.

    A sample that was removed does not come back.

    Online nothing tells where a period ends: there, as many samples as fit into half of the
    recipe's memory are one, and every batch brings as many old samples along as new ones.
    """

    saved = ("_memory", "_room")
    RULE: Rule

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory = ByStep(self.RULE, seed=setting.seed)
        # Online, how many more samples the present period may have.
        self._room = 0

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and the shares of the earlier periods beside them."""
        recipe, online = self.setting.recipe, self.setting.online
        self._same_period = online and len(new) <= self._room
        if not self._same_period:
            self._room = earlier = len(new)
            if online:
                limit = budget.limits.get("stored_samples", math.inf)
                size = int(min(recipe.memory_size or _MEMORY_SIZE, limit))
                self._room = size // 2
                earlier = max(min(self._room, size - len(new)), 0)
            self._memory.make_room(earlier)
        old = len(self._memory.rows)
        both = new.also(self._memory.rows, self._memory.labels) if old else new
        if not online:
            return TrainingSet(both, epoch=len(both))
        return TrainingSet(both, epoch=len(new), replay=min(recipe.batch_size, old))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Keep all of the new samples until the next period comes."""
        self._memory.admit(new.rows, new.labels, same_step=self._same_period)
        budget.hold(self._memory.rows)
        self._room -= len(new)


class CumulativeExp(CumulativeShares):
    """Train on new samples and as many old ones, each period giving half of what the next one does.

    Why: It is almost as good as storing everything, at twice the samples of a period, and prefers
    recent samples.

    Known problems: Few samples of early periods are left.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Exp).
    """

    RULE = "exp"


class CumulativeEqual(CumulativeShares):
    """Train on new samples and as many old ones, an equal share of each earlier period.

    Why: It is almost as good as storing everything, at twice the samples of a period, and no period
    is preferred.

    Known problems: The more periods there were, the less is left of each.

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024 (Cumulative-Equal).
    """

    RULE = "equal"
