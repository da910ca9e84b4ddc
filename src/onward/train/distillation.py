"""The teacher, the model of earlier periods, and what methods share that distil from it."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.saved import Saved, to_arrays, to_tensors
from onward.train.method import Batch, TrainingSet
from onward.train.replay_memory import ExemplarMemory, ReplayMethod
from onward.train.schedules import ConsolidationTrigger
from onward.train.weights import snapshot
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

MAX_CACHED_OUTPUTS = 2**26
"""The most numbers that an `OutputCache` should hold: 256 MB."""


class Teacher(Saved):
    """An earlier state of the model, with the classes that it knew; none before the first update.

    It is false where there is none.
    """

    saved = ("weights", "classes")

    def __init__(self) -> None:
        self.weights: dict[str, Tensor] = {}
        self.classes = 0
        self._model: Model | None = None

    def __bool__(self) -> bool:
        return bool(self.weights)

    def model(self, student: "Model") -> "Model":
        """Return the teacher as a model, which has the student's architecture."""
        if self._model is None:
            self._model = student.teacher_copy(self.weights, self.classes)
        return self._model

    def update(self, student: "Model", *, replace: bool = True) -> None:
        """End a call of `learn`: make the student the teacher, if it is to be replaced.

        The model that was made for the call is dropped: it may hold samples, which do not outlive
        the call.
        """
        self._model = None
        if replace:
            self.weights, self.classes = snapshot(student), student.classes

    def restore(self, state: dict[str, Any]) -> None:
        """Restore its weights."""
        super().restore(state)
        self._model = None


class OutputCache:
    """A row of outputs for each new sample of a call, computed when the sample is first seen."""

    def __init__(self, samples: int, width: int) -> None:
        import torch  # loaded when it is needed

        self._known = np.zeros(samples, np.bool_)
        self._rows = torch.zeros(samples, width)

    def __call__(self, batch: Batch, compute: "Callable[[Tensor], Tensor]") -> "Tensor":
        """Return the rows of a batch's new samples; unknown ones are computed from their inputs."""
        import torch  # loaded when it is needed

        device = batch.targets.device
        self._rows = self._rows.to(device)
        positions = batch.positions[: batch.num_new]
        where, known = torch.from_numpy(positions).to(device), self._known[positions]
        if not known.all():
            first = torch.from_numpy(np.flatnonzero(~known)).to(device)
            rows = compute(batch.inputs[first])
            self._rows = self._rows.to(rows.dtype)
            self._rows[where[first]] = rows
            self._known[positions] = True
        return self._rows.index_select(0, where)

    def state(self) -> dict[str, Any]:
        """Return the rows so far: a batch of another size may give other last bits."""
        return {"known": self._known.copy(), **to_arrays({"rows": self._rows})}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore them."""
        self._known = state["known"].copy()
        self._rows = to_tensors({"rows": state["rows"]})["rows"]


class DistillationMethod(ReplayMethod):
    """Abstract: train on new samples and exemplars alike, and keep the last model as the teacher.

    Exemplars are chosen by herding. The teacher is replaced after every call, or, where the recipe
    has one, after as many samples as its memory: online, a window stands for a period.
    """

    saved = (*ReplayMethod.saved, "_teacher", "_every")

    def __init__(self, *, per_class: int | None = None) -> None:
        super().__init__(ExemplarMemory(per_class, herding=True))
        self._teacher = Teacher()
        self._every = ConsolidationTrigger(None)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars alike."""
        return self._with_teacher(super().training_data(new, budget))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Choose exemplars, and make the model the teacher."""
        super().on_learn_end(model, new, budget)
        self._teacher.update(model, replace=self._every.due(len(new)))

    def _with_teacher(self, training: TrainingSet) -> TrainingSet:
        """Return the training set with the teacher's forward passes, if there is a teacher."""
        return replace(training, forward_passes=2 if self._teacher else 1)
