"""A memory of steps: how much of each earlier one stays when a new one comes."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onward.errors import OnwardError
from onward.memory.memory import Store, arrivals
from onward.types import Rows, Samples

Rule = Literal["exp", "equal"]


def shares(rule: Rule, new: int, earlier: int) -> list[int]:
    """Return how many samples of each earlier step are to stay beside so many new ones.

    ``equal``: each gives as many as any other. ``exp``: the last one gives half, the one before it
    half of the rest, and so on; the two oldest give the same. Either way they are about as many as
    the new ones.

    Examples
    --------
    >>> shares("exp", 80, 4), shares("equal", 80, 4)  # the oldest first
    ([10, 10, 20, 40], [20, 20, 20, 20])

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024, Cumulative-Exp and Cumulative-Equal. The example in its text
    is garbled; its appendix H.3 fixes what is meant.
    """
    if rule == "equal":
        return [new // max(earlier, 1)] * earlier
    return [new >> min(earlier - step, max(earlier - 1, 0)) for step in range(earlier)]


def sizes(rule: Rule, new: int, stored: Sequence[int]) -> list[int]:
    """Return how much of each earlier step stays: its share, or all that is stored of it.

    No step makes up for another that has less than its share.

    Examples
    --------
    >>> sizes("exp", 80, [15, 60])
    [15, 40]
    """
    return [min(pair) for pair in zip(shares(rule, new, len(stored)), stored, strict=True)]


class ByStep(Store):
    """Keeps all of the last step and less and less, or equally much, of those before.

    What is removed never comes back: a step's samples are drawn uniformly out of those that were
    stored of it before.

    Parameters
    ----------
    rule
        ``exp`` or ``equal``, see `shares`.
    seed
        As of any `Store`.

    Examples
    --------
    >>> memory = ByStep("exp", seed=0)
    >>> for step in range(3):
    ...     memory.make_room(8)
    ...     memory.admit(np.arange(8 * step, 8 * step + 8))
    >>> np.bincount(memory.rows // 8).tolist()
    [4, 4, 8]
    """

    saved = (*Store.saved, "_steps")

    def __init__(self, rule: Rule, seed: int = 0) -> None:
        super().__init__(seed=seed)
        if rule not in ("exp", "equal"):
            raise OnwardError(f"expected the rule exp or equal, found {rule!r}")
        self.rule = rule
        self._steps: Rows = np.empty(0, np.int64)

    def make_room(self, new: int) -> None:
        """Remove what has no place beside so many new samples."""
        stored, stay = np.bincount(self._steps).tolist(), [np.empty(0, np.int64)]
        for step, size in enumerate(sizes(self.rule, new, stored)):
            here = np.flatnonzero(self._steps == step)
            stay.append(np.sort(self._generator.permutation(here)[:size]))
        positions = np.concatenate(stay)
        self.samples, self._steps = self.samples[positions], self._steps[positions]

    def admit(
        self, rows: ArrayLike, labels: ArrayLike | None = None, *, same_step: bool = False
    ) -> None:
        """Store all of a new step, or more of the last one."""
        step = int(self._steps.max(initial=-1)) + (not same_step)
        new = arrivals(rows, labels)
        self.samples = Samples.join([self.samples, new])
        self._steps = np.concatenate([self._steps, np.full(len(new), step)])
