"""CLAD-D's second winner: distillation of a detector's outputs on stored images."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.data.soda_words import CATEGORIES
from onward.fit import PLACES
from onward.memory import Rarest
from onward.train.distillation import DetectorDistillation
from onward.train.method import number
from onward.train.replay_memory import ReplayMemory
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model
    from onward.models.sight import Sight

_RARE = ("pedestrian", "cyclist", "tricycle")
# At how many proposals of an image outputs are compared.
_PROPOSALS = 64


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
        self, outputs: "Sight", teacher_outputs: "Sight", targets: "Tensor"
    ) -> "Tensor":
        """Return the task loss of stored images, and the distance of outputs."""
        distance = output_distance(outputs, teacher_outputs, self._temperature)
        return outputs.loss(targets) + self._alpha * distance


def output_distance(outputs: "Sight", teacher_outputs: "Sight", temperature: float) -> "Tensor":
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
