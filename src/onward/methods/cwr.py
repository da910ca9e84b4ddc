"""CWR*: each class keeps a consolidated head, merged from the heads that were trained."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from onward.budget import Budget
from onward.fit import CLASS_ROWS
from onward.train.method import Batch, Method, TrainingSet
from onward.train.schedules import ConsolidationTrigger
from onward.train.weights import fitted
from onward.types import Array, View

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from onward.models import Model


class CWRStar(Method):
    """Train a temporary head, and merge it class by class into a consolidated one.

    The temporary head begins at the consolidated weights of the classes that are there, and at
    zero for all others. Afterwards it is centred at its mean and merged: for a class with `past`
    samples before and `current` ones now, consolidated ← (consolidated · √(past / current) +
    trained) / (√(past / current) + 1). Biases are merged like weights.

    What lies below the head, if anything does, is trained in the first period and frozen after it,
    as in Avalanche. There too, running statistics are still updated.

    Online a window of samples stands for a period. Within it, a class begins when it is first
    seen, and tests see the temporary head.

    Why: It stores no sample, and learning other classes does not overwrite the head of a class.

    Known problems: What lies below the head cannot follow inputs that change.

    Parameters
    ----------
    every
        After how many samples heads are merged; by default after each call, or, where the recipe
        has one, after as many as its memory.

    References
    ----------
    Lomonaco, Maltoni and Pellegrini, Rehearsal-Free Continual Learning over Small Non-I.I.D.
    Batches, CVPR Workshops 2020. Avalanche's code merges weights only and leaves biases as trained.
    """

    needs: ClassVar[Mapping[str, str]] = {CLASS_ROWS: "to merge them class by class"}

    saved = ("_kept", "_past", "_current", "_every")

    def __init__(self, *, every: int | None = None) -> None:
        self._every = ConsolidationTrigger(every)
        self._kept: dict[str, Tensor] = {}
        # By class: samples before this window, in it, and in it before this call.
        self._past: Array = np.zeros(0, np.int64)
        self._current = self._current_before = self._past

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and count them by class."""
        counts = np.bincount(new.newest[new.newest >= 0], minlength=len(new.classes))
        self._past, self._current_before = (
            np.pad(known, (0, len(counts) - len(known))) for known in (self._past, self._current)
        )
        self._current = self._current_before + counts
        return super().training_data(new, budget)

    def init_weights(self, model: "Model", generator: "Generator") -> None:
        """Load the consolidated weights of the classes that are new in this window."""
        head = model.class_rows
        consolidated = fitted(self._kept, head)
        arrived = np.flatnonzero((self._current > 0) & (self._current_before == 0)).tolist()
        for name, parameter in head.items():
            if not self._current_before.any():
                parameter.zero_()
            parameter[arrived] = consolidated[name][arrived]

    def on_after_backward(self, batch: Batch) -> None:
        """Freeze everything below the head, once there are consolidated weights."""
        if self._kept:
            for name, parameter in batch.model.named_parameters():
                if name not in batch.model.class_rows:
                    parameter.grad = None

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Merge the heads, and continue with the consolidated one."""
        if not self._every.due(len(new)):
            return
        head = model.class_rows
        self._kept = fitted(self._kept, head)
        here = np.flatnonzero(self._current).tolist()
        weight = np.sqrt(self._past[here] / self._current[here])
        for name, parameter in head.items():
            consolidated = self._kept[name]
            weights = parameter.new_tensor(weight)
            consolidated[here] = merged(consolidated[here], parameter[here], weights)
            parameter.copy_(consolidated)
        self._past, self._current = self._past + self._current, np.zeros_like(self._current)


def merged(consolidated: "Tensor", trained: "Tensor", weight: "Tensor") -> "Tensor":
    """Return the mean of old and new rows, the new ones centred, the old ones with this weight."""
    weight = weight.reshape(-1, *[1] * (trained.ndim - 1))
    return (consolidated * weight + trained - trained.mean()) / (weight + 1)
