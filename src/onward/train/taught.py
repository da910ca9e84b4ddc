"""What methods share that replay exemplars beside their last model."""

from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.train.every import Every
from onward.train.exemplars import Exemplars
from onward.train.method import Batch, Method, TrainingSet
from onward.train.teacher import Teacher
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class Taught(Method):
    """Abstract: train on new samples and exemplars alike, and keep the last model to ask.

    Exemplars are chosen by herding. The last model is replaced after every call, or, where the
    recipe has one, after as many samples as its memory: online, a window stands for a period.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    """

    saved: ClassVar[tuple[str, ...]] = ("_memory", "_teacher", "_every")

    def __init__(self, per_class: int | None) -> None:
        self._memory = Exemplars(per_class)
        self._teacher = Teacher()
        self._every = Every(None)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars alike."""
        return self._rehearsed(self._memory.beside(new))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Choose exemplars, and make the model as it is now the last one."""
        self._teacher.leave()
        self._memory.admit(new, budget, model)
        if self._every.due(len(new)):
            self._teacher.replace(model)

    def _rehearsed(self, both: View) -> TrainingSet:
        """Return a training set whose samples the last model looks at too, where there is one."""
        return TrainingSet(both, epoch=len(both), forward_passes=2 if self._teacher else 1)


class Distilled(Taught):
    """Abstract: train on new samples and exemplars; of old classes, learn what the last model says.

    The task loss has other targets: for classes that the last model knew, its own probabilities,
    for every sample, new or replayed; for those that it did not, the labels. Where no class is new,
    nothing but the last model is left to learn from.
    """

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss to the labels of new classes and the last model's old ones."""
        task = self.setting.task
        wanted = task.soft_targets(batch.outputs, batch.targets)
        if self._teacher:
            said = self._teacher.beside(batch.model).predict(batch.inputs)
            wanted[:, : self._teacher.classes] = task.probabilities(said)
        loss: Tensor = task.soft_target_loss(batch.outputs, wanted)
        return loss
