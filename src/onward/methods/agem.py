"""A-GEM: no step may make the memory worse."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.errors import OnwardError
from onward.train.exemplars import memory_for
from onward.train.followed import Followed, is_plain_sgd
from onward.train.kept import whole
from onward.train.method import Batch, Method, TrainingSet, yes_or_no
from onward.train.recipe import Recipe
from onward.train.weights import gradients
from onward.types import Setting, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class AGEM(Method):
    """Finetune, but take from each gradient what would raise the loss on a memory of old samples.

    Why: To first order no step makes the memory's mean loss worse, which others only hope for.

    Known problems: It is the mean that is kept from getting worse; single classes may. The whole
    memory as reference is dear where the model is not linear.

    Parameters
    ----------
    memory
        How many samples are kept, by reservoir; by default what the recipe says, or one bucket.
    sample
        On how many of them each reference gradient is computed; by default on all of them, as in
        CLEAR, which makes a step several times as expensive. IIRC has 128.
    per_class
        How many samples of each class are kept instead; by default what the recipe says.
    own_classes
        Whether the loss of new samples is that of the classes that are new with them, and that of
        the memory of the classes that were there before, as in IIRC.

    References
    ----------
    Chaudhry, Ranzato, Rohrbach and Elhoseiny, Efficient Lifelong Learning with A-GEM, ICLR 2019.
    """

    saved = ("_memory", "_known")

    def __init__(
        self,
        *,
        memory: int | None = None,
        sample: int | None = None,
        per_class: int | None = None,
        own_classes: bool = False,
    ) -> None:
        if sample is not None and sample < 1:
            raise OnwardError(f"expected a sample of at least 1 from memory, found {sample}")
        self._asked = whole(memory), whole(per_class)
        self._sample = sample
        self._own_classes = yes_or_no("own_classes", own_classes)
        # How many classes are known, and how many were before this call.
        self._known = self._old = 0
        # Through one call of `learn`, what a linear model says about the whole memory.
        self._followed: Followed | None = None
        self._resumed: dict[str, Any] = {}

    def begin(self, setting: Setting) -> None:
        """Prepare the memory."""
        super().begin(setting)
        self._memory = memory_for(setting, *self._asked)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them some of the memory as reference."""
        both = self._memory.beside(new)
        kept = len(both) - len(new)
        reference = kept if self._sample is None else min(self._sample, kept)
        self._new, self._whole = len(new), reference == kept
        self._old, self._known = self._known, len(new.classes)
        self._followed, self._resumed = None, {}
        return TrainingSet(both, epoch=len(new), replay=reference, separate_replay=True)

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss of the new samples."""
        return self._loss(batch.outputs, batch.targets[: batch.num_new], slice(self._old, None))

    def on_after_backward(self, batch: Batch) -> None:
        """Project the gradient if it points against that of the memory."""
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        if not len(targets):
            return
        from onward.train.backward import output_gradient  # torch, when it is needed

        followed = self._follow(batch, inputs)
        outputs = batch.model.forward(inputs) if followed is None else followed.outputs.t()
        slope = output_gradient(outputs, lambda found: self._loss(found, targets, slice(self._old)))
        if followed is not None:
            # The slope of the memory's loss along the gradient is the product of both gradients.
            # The memory's own, two matrix products over all of it, is needed only if that is below
            # zero.
            image = followed.image(batch, batch.outputs.grad)
            if float((slope.t() * image).sum()) >= 0:
                followed.move(image, batch.lr)
                return
            gradient, reference = gradients(batch.model), followed.gradient(slope)
        else:
            # Copies, for a model may write its next gradient over the last one.
            gradient = {name: values.clone() for name, values in gradients(batch.model).items()}
            batch.model.backward(slope)
            reference = gradients(batch.model)
        projected = project(gradient, reference)
        for name, values in projected.items():
            batch.model.parameters[name].grad = values
        if followed is not None:
            followed.move(followed.image_of(projected), batch.lr)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Let the new samples compete for a place in memory."""
        self._followed = None
        self._memory.admit(new, budget)

    def save_step_state(self) -> dict[str, Any]:
        """Return what the model says about the memory."""
        return self._resumed if self._followed is None else self._followed.state()

    def restore_step_state(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self._resumed = state

    def _loss(self, outputs: "Tensor", targets: "Tensor", own: slice) -> "Tensor":
        """Return the task loss, or that of some classes, where there are any."""
        task: Any = self.setting.task
        loss: Tensor
        if not self._own_classes or not outputs[:, own].shape[1]:
            loss = task.loss(outputs, targets)
        else:
            wanted = task.soft_targets(outputs, targets)[:, own]
            loss = task.soft_target_loss(outputs[:, own], wanted)
        return loss

    def _follow(self, batch: Batch, inputs: "Tensor") -> Followed | None:
        """Return the outputs of a linear probe on the whole memory, updated from step to step.

        None where an optimizer step is not linear in the gradient: the memory is then passed
        through the model in every step.
        """
        from onward.models.linear import LinearProbe  # torch is loaded when it is needed

        if (
            self._followed is None
            and self._whole
            and type(batch.model) is LinearProbe
            and is_plain_sgd(self.setting.recipe)
            and not self.frozen_rows(batch.model)
            and self._answers_like(AGEM)
        ):
            self._followed = Followed(self.setting.recipe, batch.model, inputs, self._new)
            if self._resumed:
                self._followed.restore(self._resumed)
        return self._followed


def reference_revision(recipe: Recipe) -> str | None:
    """Return what tells runs with an exact reference gradient from older ones without.

    Older versions followed the outputs of a linear model on the memory by the rule of plain SGD
    under every optimizer.
    """
    affected = recipe.model == "linear" and not is_plain_sgd(recipe)
    return "exact_reference" if affected else None


def project(
    gradient: "Mapping[str, Tensor]", reference: "Mapping[str, Tensor]"
) -> "dict[str, Tensor]":
    """Return g, or g − (g·r / r·r) r where g·r < 0; products run over all parameters together."""
    dot = sum(float((gradient[name] * reference[name]).sum()) for name in gradient)
    if dot >= 0:
        return dict(gradient)
    length = sum(float((values**2).sum()) for values in reference.values())
    return {name: gradient[name] - dot / length * reference[name] for name in gradient}
