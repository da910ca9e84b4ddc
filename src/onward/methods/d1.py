"""CLAD-D's first winner: distillation of feature maps and proposals on stored images."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from onward.fit import IMAGES, PLACES
from onward.memory import Reservoir
from onward.train.distillation import DetectorDistillation
from onward.train.method import number, yes_or_no
from onward.train.replay_memory import ReplayMemory

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models.sight import Sight

# By how much the teacher's objectness has to be higher for its box to be learned from.
_OBJECTNESS_MARGIN = 0.1


class D1(DetectorDistillation):
    """Finetune a detector, and distil its feature maps and proposals on stored images.

    CLAD's section 4.2 says: 250 stored images, distillation of the backbone's and the RPN's
    outputs much as in Faster-ILOD, on the stored images. The rest is our choice: images are
    stored at random, a batch of them comes with every batch of new ones, and both distances are
    Faster-ILOD's, which count where the last model's values are higher. Whether stored
    images are also learned again with their boxes is not said; here they are.

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
        self, outputs: "Sight", teacher_outputs: "Sight", targets: "Tensor"
    ) -> "Tensor":
        """Return both distances, and the task loss if stored images are learned again."""
        loss = self._maps * map_distance(outputs, teacher_outputs)
        loss = loss + self._proposals * proposal_distance(outputs, teacher_outputs)
        return loss + outputs.loss(targets) if self._labels else loss


def map_distance(outputs: "Sight", teacher_outputs: "Sight") -> "Tensor":
    """Return by how much the teacher's feature maps, less their mean, exceed the present ones."""
    distances = [
        ((teacher - teacher.mean()) - (student - student.mean())).clamp(min=0).mean()
        for student, teacher in zip(
            outputs.maps.values(), teacher_outputs.maps.values(), strict=True
        )
    ]
    return sum(distances[1:], distances[0]) / len(distances)


def proposal_distance(outputs: "Sight", teacher_outputs: "Sight") -> "Tensor":
    """Return the distance of the proposals' objectness and boxes to the teacher's.

    Objectness counts where the teacher's is higher, boxes where it is higher by a margin.
    """
    drop = teacher_outputs.objectness - outputs.objectness
    boxes = (teacher_outputs.moves - outputs.moves).square().sum(2)
    return (drop.clamp(min=0).square() + boxes * (drop.detach() > _OBJECTNESS_MARGIN)).mean()
