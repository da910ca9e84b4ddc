"""What methods share that keep to what the last model says."""

from onward.train.method import Step
from onward.train.taught import Taught
from onward.types import Loss


class Distilled(Taught):
    """Abstract: train on new samples and exemplars; of old classes, learn what the last model says.

    The task loss has other targets: for classes that the last model knew, its own probabilities,
    for every sample, new or replayed; for those that it did not, the labels. Where no class is new,
    nothing but the last model is left to learn from.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    """

    def minimises(self, step: Step) -> Loss:
        """Return the task loss to the labels of new classes and the last model's old ones."""
        task = self.setting.task
        wanted = task.wanted(step.outputs, step.targets)
        if self._teacher:
            said = self._teacher.beside(step.model).predict(step.inputs)
            wanted[:, : self._teacher.classes] = task.probabilities(said)
        return task.towards(step.outputs, wanted)
