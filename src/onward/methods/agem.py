"""A-GEM: no step may make the memory worse."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.errors import OnwardError
from onward.memory import Reservoir
from onward.train.followed import Followed
from onward.train.kept import Kept
from onward.train.method import GradientMethod, Step, TrainingSet
from onward.types import Loss, Setting, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class AGEM(GradientMethod):
    """Finetune, but take from each gradient what would raise the loss on a memory of old samples.

    Parameters
    ----------
    memory
        How many samples are kept, by reservoir; by default what the recipe says, or one bucket.
    sample
        On how many of them each reference gradient is computed; by default on all of them, as in
        CLEAR, which makes a step several times as expensive.

    References
    ----------
    Chaudhry, Ranzato, Rohrbach and Elhoseiny, Efficient Lifelong Learning with A-GEM, ICLR 2019.
    """

    def __init__(self, *, memory: int | None = None, sample: int | None = None) -> None:
        if sample is not None and sample < 1:
            raise OnwardError(f"expected a sample of at least 1 from memory, found {sample}")
        self._memory = Kept(Reservoir, memory)
        self._sample = sample
        # Through one call of `learn`, what a linear model says about the whole memory.
        self._followed: Followed | None = None
        self._resumed: dict[str, Any] = {}

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them some of the memory as reference."""
        kept = len(self._memory)
        reference = kept if self._sample is None else min(self._sample, kept)
        self._new, self._whole = len(new), reference == kept
        self._followed, self._resumed = None, {}
        return TrainingSet(self._memory.beside(new), epoch=len(new), replay=reference, apart=True)

    def minimises(self, step: Step) -> Loss:
        """Return the task loss of the new samples."""
        loss = self.setting.task.loss(step.outputs, step.targets[: step.new])
        self._slope = loss.slope
        return loss

    def gradient(self, step: Step) -> None:
        """Project the gradient if it points against that of the memory."""
        inputs, targets = step.inputs[step.new :], step.targets[step.new :]
        if not len(targets) or self._agrees(step, inputs, targets):
            return
        # Copies, for a model may write its next gradient over the last one.
        gradient = {name: values.clone() for name, values in _gradients(step.model).items()}
        loss = self.setting.task.loss(step.model.forward(inputs), targets)
        step.model.backward(loss.slope)
        for name, values in project(gradient, _gradients(step.model)).items():
            step.model.parameters[name].grad = values
        if self._followed is not None:
            self._followed.move(self._followed.image_of_gradient(), step.rate)

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Let the new samples compete for a place in memory."""
        self._followed = None
        self._memory.admit(new, budget)

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)

    def state_inside(self) -> dict[str, Any]:
        """Return what the model says about the memory."""
        return self._resumed if self._followed is None else self._followed.state()

    def restore_inside(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self._resumed = state

    def _agrees(self, step: Step, inputs: "Tensor", targets: "Tensor") -> bool:
        """Say whether a linear model's gradient is known not to raise the loss on all of memory.

        The slope of that loss along the gradient is the product of both gradients. It is found
        without the memory's own gradient, which is two matrix products over all of memory and is
        needed only where both disagree.
        """
        from onward.models.linear import LinearProbe  # torch is loaded when it is needed

        if not (self._whole and isinstance(step.model, LinearProbe)):
            return False
        if self._followed is None:
            self._followed = Followed(self.setting.recipe, step.model, inputs, self._new)
            if self._resumed:
                self._followed.restore(self._resumed)
        image = self._followed.image(step, self._slope)
        slope = self.setting.task.loss(self._followed.outputs, targets).slope
        agrees = float((slope * image).sum()) >= 0
        if agrees:
            self._followed.move(image, step.rate)
        return agrees


def project(
    gradient: "Mapping[str, Tensor]", reference: "Mapping[str, Tensor]"
) -> "dict[str, Tensor]":
    """Return g, or g − (g·r / r·r) r where g·r < 0; products run over all parameters together."""
    dot = sum(float((gradient[name] * reference[name]).sum()) for name in gradient)
    if dot >= 0:
        return dict(gradient)
    length = sum(float((values**2).sum()) for values in reference.values())
    return {name: gradient[name] - dot / length * reference[name] for name in gradient}


def _gradients(model: "Model") -> "dict[str, Tensor]":
    return {name: p.grad for name, p in model.parameters.items() if p.grad is not None}
