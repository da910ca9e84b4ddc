"""CLAD-D's first winner: maps and proposals of stored images stay as they were."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from onward.fit import IMAGES, PLACES
from onward.memory import Reservoir
from onward.train.kept import Kept
from onward.train.method import number, yes_or_no
from onward.train.recalled import Recalled

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models.detector import DetectorOutput

# By how much the last model has to be surer of an object for its box to be learned from.
_SURER = 0.1


class D1(Recalled):
    """Finetune a detector, and hold its maps and its proposals fast on stored images.

    CLAD's section 4.2 says: 250 stored images, distillation of the backbone's and the RPN's
    outputs much as in Faster-ILOD, on the stored images. The rest is our choice: images are
    stored at random, a batch of them comes with every batch of new ones, and both distances are
    Faster-ILOD's, which pull where the last model saw more than the present one. Whether stored
    images are also learned again with their boxes is not said; here they are.

    The winner's detector is a Cascade R-CNN on a Swin transformer. The cascade is not part of this;
    the backbone is the benchmark's option ``model``.

    Why: What is forgotten first is where to look: proposals hold that fast.

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
        super().__init__(Kept(Reservoir, memory))
        self._maps, self._proposals = number("maps", maps), number("proposals", proposals)
        self._labels = yes_or_no("labels", labels)

    def lost(self, seen: "DetectorOutput", taught: "DetectorOutput", targets: "Tensor") -> "Tensor":
        """Return both distances, and the task loss if stored images are learned again."""
        lost = self._maps * map_distance(seen, taught)
        lost = lost + self._proposals * proposal_distance(seen, taught)
        return lost + seen.loss(targets) if self._labels else lost


def map_distance(seen: "DetectorOutput", taught: "DetectorOutput") -> "Tensor":
    """Return how much less the maps show than the last model's, each less its own mean."""
    lost = [
        ((then - then.mean()) - (now - now.mean())).clamp(min=0).mean()
        for now, then in zip(seen.maps.values(), taught.maps.values(), strict=True)
    ]
    return sum(lost[1:], lost[0]) / len(lost)


def proposal_distance(seen: "DetectorOutput", taught: "DetectorOutput") -> "Tensor":
    """Return how much less sure of objects the proposals are, and how far their boxes are off.

    Where the last model is not surer, nothing is lost; boxes count where it is clearly so.
    """
    surer = taught.objectness - seen.objectness
    there = surer.clamp(min=0).square()
    where = (taught.moves - seen.moves).square().sum(2) * (surer.detach() > _SURER)
    return (there + where).mean()
