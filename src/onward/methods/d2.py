"""CLAD-D's second winner: what is said about stored images stays as it was."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.data.soda_words import CATEGORIES
from onward.fit import PLACES
from onward.memory import Rarest
from onward.train.kept import Kept
from onward.train.method import number
from onward.train.recalled import Recalled
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model
    from onward.models.detector import DetectorOutput

_RARE = ("pedestrian", "cyclist", "tricycle")
# At how many places of an image the last model is asked.
_PLACES = 64


class D2(Recalled):
    """Replay images with many rare objects, and stay close to what the last model says of them.

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
        super().__init__(Kept(partial(Rarest, classes=rare), memory))
        self._alpha = number("alpha", alpha)
        self._temperature = number("temperature", temperature, above=True)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Scale the outputs that are predicted, then do as others do."""
        model.net.temperature.fill_(self._temperature)
        super().on_learn_end(model, new, budget)

    def lost(self, seen: "DetectorOutput", taught: "DetectorOutput", targets: "Tensor") -> "Tensor":
        """Return the task loss of stored images, and the distance of outputs."""
        said = self._alpha * output_distance(seen, taught, self._temperature)
        return seen.loss(targets) + said


def output_distance(
    seen: "DetectorOutput", taught: "DetectorOutput", temperature: float
) -> "Tensor":
    """Return the mean square by which classes and corners differ at the last model's proposals.

    Outputs of classes are compared less their mean over classes, as by Shmelkov et al.
    """
    places = [found[:_PLACES] for found in taught.proposals]
    (now, now_moves), (then, then_moves) = seen.classified(places), taught.classified(places)
    away = (now - now.mean(1, keepdim=True) - then + then.mean(1, keepdim=True)) / temperature
    return away.square().mean() + (now_moves - then_moves).square().mean()
