"""iCaRL-norm: iCaRL's loss on a cosine head."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from onward.fit import CLASS_OUTPUTS
from onward.train.method import yes_or_no
from onward.train.taught import Distilled

if TYPE_CHECKING:
    import torch

    from onward.models import Model


class ICaRLNorm(Distilled):
    """As icarl_cnn, with a last layer that sees directions only, so that no class is favoured.

    Why: New classes have more samples, and longer weights; where lengths do not count, they are not
    favoured for that.

    Known problems: Where no class is new, it has nothing but its last model to learn from.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    restarts_eta
        Whether the scale of the logits begins at 1 in every period, as in IIRC's released code; the
        paper does not say.

    References
    ----------
    Abdelsalam et al., IIRC, CVPR 2021, section 4; the cosine layer is that of Hou et al., CVPR
    2019.
    """

    needs: ClassVar[Mapping[str, str]] = {
        CLASS_OUTPUTS: "to learn of old classes what the last model says"
    }

    head: Literal["linear", "cosine"] = "cosine"

    def __init__(self, *, per_class: int | None = None, restarts_eta: bool = True) -> None:
        super().__init__(per_class)
        self._restarts_eta = yes_or_no("restarts_eta", restarts_eta)

    def init_weights(self, model: "Model", generator: "torch.Generator") -> None:
        """Start from the last weights, but for eta."""
        if self._restarts_eta and self._every.begins:
            model.head.eta.fill_(1)
