"""What methods share that ask their last detector about stored images."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.memory import Memory
from onward.train.kept import Kept
from onward.train.method import Batch, TrainingSet
from onward.train.rehearsal import Rehearsal
from onward.train.teacher import Teacher
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model
    from onward.models.detector import DetectorOutput


class Recalled(Rehearsal):
    """Abstract: beside each batch of new images, see as many stored ones as the last model did.

    The first period is that of finetuning, since there is nothing to look back at.
    """

    saved = (*Rehearsal.saved, "_teacher")

    def __init__(self, memory: Kept[Memory]) -> None:
        super().__init__(memory)
        self._teacher = Teacher()

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new images, and for each batch of them a batch of stored ones, apart."""
        both = self._memory.beside(new)
        if not len(self._memory):
            return TrainingSet(both, epoch=len(new))
        replay = self.setting.recipe.batch_size
        return TrainingSet(
            both, epoch=len(new), replay=replay, forward_passes=2, separate_replay=True
        )

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the loss of new images, and how much of the stored ones is lost."""
        loss: Tensor = self.setting.task.loss(batch.outputs, batch.targets[: batch.num_new])
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        if not len(inputs):
            return loss
        import torch  # loaded when it is needed

        # A detector: these methods are for boxes alone.
        model: Any = batch.model
        teacher: Any = self._teacher.beside(model)
        with torch.no_grad():
            taught = teacher(inputs)
        return loss + self.lost(model(inputs), taught, targets)

    @property
    def is_plain_finetuning(self) -> bool:
        """Whether there is no teacher yet."""
        return not self._teacher and self._answers_like(Recalled)

    def lost(self, seen: "DetectorOutput", taught: "DetectorOutput", targets: "Tensor") -> "Tensor":
        """Return a loss with its graph, given stored images and their true boxes.

        They are as they are seen now, and as the last model sees them.
        """
        raise NotImplementedError

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Take new images into memory, and make the model as it is now the teacher."""
        super().on_learn_end(model, new, budget)
        self._teacher.leave()
        self._teacher.replace(model)
