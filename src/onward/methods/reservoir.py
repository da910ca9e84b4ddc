"""Reservoir finetuning: train on a memory, uniform or biased to recent samples, and on it alone."""

import re
from functools import partial
from typing import Literal

from onward.errors import OnwardError
from onward.memory import BiasedReservoir, Reservoir, dynamic
from onward.memory.biased import Dynamic
from onward.train.method import Start
from onward.train.replay_memory import MemoryOnlyMethod, ReplayMemory


class ReservoirFinetune(MemoryOnlyMethod):
    """Train on a uniform memory of all samples so far, the new ones admitted first.

    Why: A uniform sample represents all of the past in bounded memory.

    Known problems: A new period has an ever smaller share of it, so it follows drift ever slower.

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
        super().__init__(ReplayMemory(Reservoir, memory), start)


class BiasedReservoirFinetune(MemoryOnlyMethod):
    """Train on a memory that prefers recent samples, the new ones admitted first.

    Why: Where the near future is tested, recent samples are worth more than old ones.

    Known problems: How much more has to be chosen, and depends on how fast the data change.

    Parameters
    ----------
    alpha
        How strongly: a number, 1 for not at all, or a text such as ``0.75*i/k``, with which a new
        sample enters with probability 0.75 however many were seen. The default is that of the
        paper's Table 1: all new samples enter, and where they are as many as the memory holds,
        this is finetuning.
    replacement
        Which places are overwritten: ``random`` ones, or the ``tail`` as in the authors' code.
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    start
        Which weights to start from: the ``last`` (finetuning) or ``random`` ones (from scratch).

    References
    ----------
    Lin et al., The CLEAR Benchmark, NeurIPS 2021 Datasets and Benchmarks, section 5; supplement,
    section 4.
    """

    def __init__(
        self,
        *,
        alpha: float | str = "1.0*i/k",
        replacement: Literal["random", "tail"] = "random",
        memory: int | None = None,
        start: Start = "last",
    ) -> None:
        make = partial(BiasedReservoir, alpha=parse_alpha(alpha), replacement=replacement)
        make(1)  # raises now, and not with the first view, if an option is wrong
        super().__init__(ReplayMemory(make, memory), start)


def parse_alpha(alpha: float | str) -> float | Dynamic:
    """Read an alpha as the paper writes it.

    Examples
    --------
    >>> parse_alpha(2), parse_alpha("0.75*i/k"), parse_alpha("i/k")
    (2.0, Dynamic(c=0.75), Dynamic(c=1.0))
    """
    found = re.fullmatch(r"(?:(\d*\.?\d+)\*)?i/k", str(alpha).replace(" ", ""))
    if found:
        return dynamic(float(found[1] or 1))
    try:
        return float(alpha)
    except ValueError as error:
        raise OnwardError(
            f"expected alpha as a number or as a text such as 0.5*i/k, found {alpha!r}"
        ) from error
