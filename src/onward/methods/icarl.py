"""iCaRL's loss and exemplars, decided by the network itself, with a linear or a cosine head."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from onward.fit import CLASS_OUTPUTS
from onward.train.distillation import DistillationMethod
from onward.train.method import Batch, yes_or_no

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from onward.models import Model


class ICaRLCNN(DistillationMethod):
    """Replay exemplars chosen by herding, and learn old classes from the last model's outputs.

    The task loss has soft targets: for classes that the teacher, the last model, knew, its
    probabilities, for every sample, new or replayed; for new classes, the labels. iCaRL decides by
    the nearest mean of exemplars; this one by the outputs of its network, as in IIRC.

    Why: An old class that is not among the labels is no negative: the last model's output decides.

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

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss to the labels of new classes and the teacher's old ones."""
        task = self.setting.task
        soft_targets = task.soft_targets(batch.outputs, batch.targets)
        if self._teacher:
            teacher_outputs = self._teacher.model(batch.model).predict(batch.inputs)
            soft_targets[:, : self._teacher.classes] = task.probabilities(teacher_outputs)
        loss: Tensor = task.soft_target_loss(batch.outputs, soft_targets)
        return loss


class ICaRLNorm(ICaRLCNN):
    """As icarl_cnn, with a cosine head, which ignores the length of weights and features.

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

    head: Literal["linear", "cosine"] = "cosine"

    def __init__(self, *, per_class: int | None = None, restarts_eta: bool = True) -> None:
        super().__init__(per_class=per_class)
        self._restarts_eta = yes_or_no("restarts_eta", restarts_eta)

    def init_weights(self, model: "Model", generator: "Generator") -> None:
        """Start from the last weights, but for eta."""
        if self._restarts_eta and self._every.seen == 0:
            model.head.eta.fill_(1)
