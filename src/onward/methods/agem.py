"""A-GEM: no step may make the memory worse."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.train.method import Batch, TrainingSet, WholeBatch, yes_or_no
from onward.train.replay_memory import ReplayMethod, check_memory_size, memory_for
from onward.train.weights import gradients
from onward.types import Setting, View

if TYPE_CHECKING:
    from torch import Tensor


# Multiply-accumulates of a micro-batch, which bound its activations: the whole memory of a probe, a
# batch of a network.
_MICRO_BATCH_MACS = 2**28


class AGEM(ReplayMethod):
    """Finetune, but take from each gradient what would raise the loss on a memory of old samples.

    Why: To first order no step makes the memory's mean loss worse, which others only hope for.

    Known problems: Only the mean does not get worse; single classes may. The whole memory as
    reference is expensive where the model is not linear.

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

    saved = (*ReplayMethod.saved, "_known")

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
        self._memory_options = check_memory_size(memory), check_memory_size(per_class)
        self._sample = sample
        self._own_classes = yes_or_no("own_classes", own_classes)
        # How many classes are known, and how many were before this call.
        self._known = self._old = 0

    def begin(self, setting: Setting) -> None:
        """Make the memory."""
        super().begin(setting)
        self._memory = memory_for(setting, *self._memory_options)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them some of the memory as reference."""
        self._old, self._known = self._known, len(new.classes)
        both = self._memory.with_replay(new)
        stored = len(both) - len(new)
        reference = stored if self._sample is None else min(self._sample, stored)
        return TrainingSet(both, epoch=len(new), replay=reference, separate_replay=True)

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss of the new samples."""
        return self._loss(batch.outputs, batch.targets[: batch.num_new], slice(self._old, None))

    def on_after_backward(self, batch: Batch) -> None:
        """Project the gradient if it points against that of the memory."""
        if len(batch.positions) == batch.num_new:
            return
        gradient = {name: values.clone() for name, values in gradients(batch.model).items()}
        self._reference_gradient(batch)
        projected = project(gradient, gradients(batch.model))
        for name, parameter in batch.model.named_parameters():
            parameter.grad = projected.get(name)

    def _reference_gradient(self, batch: Batch) -> None:
        """Set the gradient of the memory's mean loss, computed in micro-batches.

        Those of a network have the recipe's batch size, so that a large memory takes no more room
        than a batch. A loss that compares the samples of a batch is computed on all of them at
        once.
        """
        import torch  # loaded when it is needed

        from onward.train.data_parallel import average_gradients

        model, recipe = batch.model, self.setting.recipe
        whole = batch.whole or WholeBatch(batch.positions, batch.num_new)
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        # The places of this process's samples among those of all processes.
        places = whole.indices[batch.num_new :] - whole.num_new
        samples = len(whole.positions) - whole.num_new
        size = max(recipe.batch_size, _MICRO_BATCH_MACS // max(model.macs, 1))
        if self.setting.task.compares_samples:
            size = samples
        model.zero_grad()
        for start in range(0, samples, size):
            part = slice(*np.searchsorted(places, (start, start + size)).tolist())
            with torch.enable_grad():
                outputs = model(inputs[part])
                if len(targets[part]):
                    loss = self._loss(outputs, targets[part], slice(self._old))
                    loss = loss * (len(targets[part]) * whole.world_size / samples)
                else:  # others have some of this part, and statistics of the batch are shared
                    loss = 0 * outputs.sum()
            loss.backward()  # type: ignore[no-untyped-call]
        if whole.shared:
            average_gradients(model)

    def _loss(self, outputs: "Tensor", targets: "Tensor", own: slice) -> "Tensor":
        """Return the task loss, with `own_classes` that of these classes, where there are any."""
        task: Any = self.setting.task
        loss: Tensor
        if not self._own_classes or not outputs[:, own].shape[1]:
            loss = task.loss(outputs, targets)
        else:
            soft_targets = task.soft_targets(outputs, targets)[:, own]
            loss = task.soft_target_loss(outputs[:, own], soft_targets)
        return loss


def project(
    gradient: "Mapping[str, Tensor]", reference: "Mapping[str, Tensor]"
) -> "dict[str, Tensor]":
    """Return g, or g − (g·r / r·r) r where g·r < 0; products run over all parameters together."""
    # Added up on the device: reading a number of each parameter would wait for it as often.
    dot = float(sum((values * reference[name]).sum() for name, values in gradient.items()))
    if dot >= 0:
        return dict(gradient)
    squared_norm = float(sum(values.square().sum() for values in reference.values()))
    return {name: gradient[name] - dot / squared_norm * reference[name] for name in gradient}
