"""The three winners of CLAD's challenge in detection: distillation and replay on stored images."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from onward.budget import Budget
from onward.data.soda_words import CATEGORIES
from onward.fit import IMAGES, PLACES
from onward.memory import Memory, Rarest, Reservoir
from onward.train.distillation import Teacher
from onward.train.method import Batch, TrainingSet, number, yes_or_no
from onward.train.replay_memory import ReplayMemory, ReplayMethod
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model
    from onward.models.detector import DetectorOutput

# D1: by how much the teacher's objectness has to be higher for its box to be learned from.
_OBJECTNESS_MARGIN = 0.1
# D2: at how many proposals of an image outputs are compared, and which classes are rare.
_PROPOSALS = 64
_RARE = ("pedestrian", "cyclist", "tricycle")
# D3: how many new images a batch has, and how many old ones.
_EACH = 2


class DetectorDistillation(ReplayMethod):
    """Abstract: distil the last detector on a batch of stored images beside each batch of new ones.

    The first period is that of finetuning, since there is no teacher.
    """

    saved = (*ReplayMethod.saved, "_teacher")

    def __init__(self, memory: ReplayMemory[Memory]) -> None:
        super().__init__(memory)
        self._teacher = Teacher()

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new images, and for each batch of them a separate batch of stored ones."""
        both = self._memory.with_replay(new)
        if not len(self._memory):
            return TrainingSet(both, epoch=len(new))
        replay = self.setting.recipe.batch_size
        return TrainingSet(
            both, epoch=len(new), replay=replay, forward_passes=2, separate_replay=True
        )

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss of the new images and the replay loss of the stored ones."""
        loss: Tensor = self.setting.task.loss(batch.outputs, batch.targets[: batch.num_new])
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        if not len(inputs):
            return loss
        import torch  # loaded when it is needed

        # A detector: these methods are for boxes alone.
        model: Any = batch.model
        teacher: Any = self._teacher.model(model)
        with torch.no_grad():
            teacher_outputs = teacher(inputs)
        replay_loss = self.replay_loss(model(inputs), teacher_outputs, targets)
        return loss + batch.average(replay_loss, len(inputs))

    @property
    def is_plain_finetuning(self) -> bool:
        """Whether there is no teacher yet."""
        return not self._teacher and self._answers_like(DetectorDistillation)

    def replay_loss(
        self, outputs: "DetectorOutput", teacher_outputs: "DetectorOutput", targets: "Tensor"
    ) -> "Tensor":
        """Return the loss of stored images, given both detectors' outputs and the true boxes."""
        raise NotImplementedError

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Admit the new images to the memory, and make the model the teacher."""
        super().on_learn_end(model, new, budget)
        self._teacher.update(model)


class D1(DetectorDistillation):
    """Finetune a detector, and distil its feature maps and proposals on stored images.

    CLAD's section 4.2 says: 250 stored images, distillation of the backbone's and the RPN's
    outputs much as in Faster-ILOD, on the stored images. The rest is our choice: images are
    stored at random, a batch of them comes with every batch of new ones, and both distances are
    Faster-ILOD's, which count where the last model's values are higher. Whether stored images are
    also learned again with their boxes is not said; here they are.

    The winner's detector is a Cascade R-CNN on a Swin transformer. The cascade is not part of this;
    the backbone is the benchmark's option ``model``.

    Why: What is forgotten first is where to look: distilling proposals preserves that.

    Known problems: A step has two batches and a teacher: it costs more than twice as much.

    Parameters
    ----------
    memory
        How many images are kept; by default what the recipe says.
    maps, proposals
        The weights of both distances.
    labels
        Whether stored images are also learned again with their boxes.

    References
    ----------
    Verwimp et al., CLAD, Neural Networks 2023, section 4.2; Peng et al., Faster ILOD, Pattern
    Recognition Letters 2020.
    """

    needs: ClassVar[Mapping[str, str]] = {
        IMAGES: "whose maps it holds fast",
        PLACES: "where it holds proposals fast",
    }

    def __init__(
        self,
        *,
        memory: int | None = None,
        maps: float = 1.0,
        proposals: float = 1.0,
        labels: bool = True,
    ) -> None:
        super().__init__(ReplayMemory(Reservoir, memory))
        self._maps, self._proposals = number("maps", maps), number("proposals", proposals)
        self._labels = yes_or_no("labels", labels)

    def replay_loss(
        self, outputs: "DetectorOutput", teacher_outputs: "DetectorOutput", targets: "Tensor"
    ) -> "Tensor":
        """Return both distances, and the task loss if stored images are learned again."""
        loss = self._maps * map_distance(outputs, teacher_outputs)
        loss = loss + self._proposals * proposal_distance(outputs, teacher_outputs)
        return loss + outputs.loss(targets) if self._labels else loss


def map_distance(outputs: "DetectorOutput", teacher_outputs: "DetectorOutput") -> "Tensor":
    """Return by how much the teacher's feature maps, less their mean, exceed the present ones."""
    distances = [
        ((teacher - teacher.mean()) - (student - student.mean())).clamp(min=0).mean()
        for student, teacher in zip(
            outputs.maps.values(), teacher_outputs.maps.values(), strict=True
        )
    ]
    return sum(distances[1:], distances[0]) / len(distances)


def proposal_distance(outputs: "DetectorOutput", teacher_outputs: "DetectorOutput") -> "Tensor":
    """Return the distance of the proposals' objectness and boxes to the teacher's.

    Objectness counts where the teacher's is higher, boxes where it is higher by a margin.
    """
    drop = teacher_outputs.objectness - outputs.objectness
    boxes = (teacher_outputs.moves - outputs.moves).square().sum(2)
    return (drop.clamp(min=0).square() + boxes * (drop.detach() > _OBJECTNESS_MARGIN)).mean()


class D2(DetectorDistillation):
    """Replay images with many rare objects, and stay close to the last model's outputs for them.

    CLAD's section 4.2 says: the outputs are distilled as by Shmelkov et al., on replayed images,
    which are those of each domain with the most pedestrians, cyclists and tricycles; outputs are
    scaled by a temperature. The rest is our choice: a batch of stored images comes with every batch
    of new ones and is learned again with its boxes; domains share the memory evenly; outputs are
    compared at the 64 best proposals of the last model (Shmelkov et al. draw 64 out of 128); and
    the temperature divides the outputs of the classes where they are compared and where boxes are
    predicted.

    Why: Few images have rare objects, and those are the ones that forgetting costs most on.

    Known problems: Which classes are rare is known beforehand, as by the team.

    Parameters
    ----------
    memory
        How many images are kept; by default what the recipe says.
    alpha
        The weight of the distance.
    temperature
        What outputs of classes are divided by.

    References
    ----------
    Verwimp et al., CLAD, Neural Networks 2023, section 4.2; Shmelkov, Schmid and Alahari,
    Incremental Learning of Object Detectors without Catastrophic Forgetting, ICCV 2017.
    """

    needs: ClassVar[Mapping[str, str]] = {PLACES: "where it asks the last model"}

    def __init__(
        self, *, memory: int | None = None, alpha: float = 1.0, temperature: float = 2.0
    ) -> None:
        rare = [number for number, name in enumerate(CATEGORIES.values()) if name in _RARE]
        super().__init__(ReplayMemory(partial(Rarest, classes=rare), memory))
        self._alpha = number("alpha", alpha)
        self._temperature = number("temperature", temperature, above=True)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Set the temperature of predicted outputs, admit images, and replace the teacher."""
        model.net.temperature.fill_(self._temperature)
        super().on_learn_end(model, new, budget)

    def replay_loss(
        self, outputs: "DetectorOutput", teacher_outputs: "DetectorOutput", targets: "Tensor"
    ) -> "Tensor":
        """Return the task loss of stored images, and the distance of outputs."""
        distance = output_distance(outputs, teacher_outputs, self._temperature)
        return outputs.loss(targets) + self._alpha * distance


def output_distance(
    outputs: "DetectorOutput", teacher_outputs: "DetectorOutput", temperature: float
) -> "Tensor":
    """Return the mean squared differences of logits and of boxes at the teacher's proposals.

    Logits are compared less their mean over classes, as by Shmelkov et al.
    """
    proposals = [found[:_PROPOSALS] for found in teacher_outputs.proposals]
    (logits, boxes), (old_logits, old_boxes) = (
        detector.classified(proposals) for detector in (outputs, teacher_outputs)
    )
    centred = logits - logits.mean(1, keepdim=True)
    difference = (centred - old_logits + old_logits.mean(1, keepdim=True)) / temperature
    return difference.square().mean() + (boxes - old_boxes).square().mean()


class D3(ReplayMethod):
    """Train on batches of two new images and two old ones, which were stored at random.

    CLAD's section 4.2 says no more about its learning. In the first period there is nothing to
    replay, and it is trained as the recipe says. Later it takes as many steps as others take with
    the recipe's batches, so that it sees fewer epochs in smaller batches: our choice, since others
    would otherwise be compared with a longer training.

    Why: Plain replay, with nothing else, tells what the other parts of the others are worth.

    Known problems: Batches of four are noisy.

    Parameters
    ----------
    memory
        How many images are kept; by default what the recipe says.

    References
    ----------
    Verwimp et al., CLAD, Neural Networks 2023, section 4.2.
    """

    def __init__(self, *, memory: int | None = None) -> None:
        super().__init__(ReplayMemory(Reservoir, memory))

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose two new images and two old ones for every batch."""
        both = self._memory.with_replay(new)
        replay, batch = (_EACH, _EACH) if len(self._memory) else (0, None)
        return TrainingSet(both, epoch=len(new), replay=replay, batch=batch)
