"""iCaRL-CNN: iCaRL's loss and exemplars, decided by the network itself."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import CLASS_OUTPUTS
from onward.train.taught import Distilled


class ICaRLCNN(Distilled):
    """Replay exemplars chosen by herding, and learn of old classes what the last model says.

    iCaRL decides by the nearest mean of exemplars; this one by the outputs of its network, as in
    IIRC.

    Why: A label that is not shown is not taken for a no: of old classes, the last model is asked.

    Known problems: Where no class is new, it has nothing but its last model to learn from.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.

    References
    ----------
    Rebuffi, Kolesnikov, Sperl and Lampert, iCaRL: Incremental Classifier and Representation
    Learning, CVPR 2017; as in Abdelsalam et al., IIRC, CVPR 2021.
    """

    needs: ClassVar[Mapping[str, str]] = {
        CLASS_OUTPUTS: "to learn of old classes what the last model says"
    }

    def __init__(self, *, per_class: int | None = None) -> None:
        super().__init__(per_class)
