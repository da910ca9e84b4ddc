"""What methods share that replay exemplars and keep to what the last model says."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.train.every import Every
from onward.train.exemplars import Exemplars
from onward.train.method import GradientMethod, Step, TrainingSet
from onward.train.teacher import Teacher
from onward.types import Loss, Setting, View

if TYPE_CHECKING:
    from onward.models import Model


class Distilled(GradientMethod):
    """Abstract: train on new samples and exemplars; of old classes, learn what the last model says.

    The task loss has other targets: for classes that the last model knew, its own probabilities,
    for every sample, new or replayed; for those that it did not, the labels. Where no class is new,
    nothing but the last model is left to learn from.

    Exemplars are chosen by herding. The last model is replaced after every call, or, where the
    recipe has one, after as many samples as its memory: online, a window stands for a period.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    """

    def __init__(self, per_class: int | None) -> None:
        self._memory = Exemplars(per_class)
        self._teacher = Teacher()
        self._every = Every(None)

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory.begin(setting)
        self._every.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars alike."""
        return self._rehearsed(self._memory.beside(new))

    def minimises(self, step: Step) -> Loss:
        """Return the task loss to the labels of new classes and the last model's old ones."""
        task = self.setting.task
        wanted = task.wanted(step.outputs, step.targets)
        if self._teacher:
            said = self._teacher.beside(step.model).predict(step.inputs)
            wanted[:, : self._teacher.classes] = task.probabilities(said)
        return task.towards(step.outputs, wanted)

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Choose exemplars, and make the model as it is now the last one."""
        self._teacher.leave()
        self._memory.admit(new, budget, model)
        if self._every.due(len(new)):
            self._teacher.replace(model)

    def state(self) -> dict[str, Any]:
        """Return memory and last model."""
        return {
            "memory": self._memory.state(),
            "teacher": self._teacher.state(),
            "every": self._every.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take them back."""
        self._memory.restore(state["memory"])
        self._teacher.restore(state["teacher"])
        self._every.restore(state["every"])

    def _rehearsed(self, both: View) -> TrainingSet:
        """Return a training set whose samples the last model looks at too, where there is one."""
        return TrainingSet(both, epoch=len(both), forwards=2 if self._teacher else 1)
