"""LUCIR: a cosine head, distillation of features, and a margin between old and new classes."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS
from onward.train.distillation import DistillationMethod
from onward.train.method import Batch, TrainingSet, may_read_again, number
from onward.train.replay_memory import extract_features
from onward.types import View

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from onward.models import Model

_IMPRINTED_ON = 1000


class LUCIR(DistillationMethod):
    """Replay exemplars under a cosine head with frozen old weights, and distil features.

    From the second period on, the task loss gets λ √(old / new classes) · (1 − cos(feature, the
    last model's feature)) as a mean over samples; and for replayed samples a margin by which the
    cosine of their own class is to exceed those of the new classes that come closest. Weights of
    old classes do not move. Those of a new one begin at the mean direction of its features, as
    long as the old ones are on average. Eta is kept from period to period.

    Exemplars are chosen by herding. Where the budget limits passes or MACs, as online, new samples
    are not read before they are learned, and new weights begin at random.

    Why: New classes have many samples and old ones few; three terms counteract that.

    Known problems: With its published settings it is not stable on the emoji edition of IIRC: for
    some seeds eta turns negative, and it answers with most classes.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    distance
        λ.
    margin
        By how much the own class is to be ahead.
    hardest
        How many of the closest new classes count, or all where there are fewer.

    References
    ----------
    Hou, Pan, Loy, Wang and Lin, Learning a Unified Classifier Incrementally via Rebalancing, CVPR
    2019; as in Abdelsalam et al., IIRC, CVPR 2021: binary cross-entropy, and the margin's
    gradient takes eta for a constant.
    """

    needs: ClassVar[Mapping[str, str]] = {CLASS_OUTPUTS: "to hold those of old classes still"}

    head: Literal["linear", "cosine"] = "cosine"

    saved = (*DistillationMethod.saved, "_known")

    def __init__(
        self,
        *,
        per_class: int | None = None,
        distance: float = 5.0,
        margin: float = 0.5,
        hardest: int = 2,
    ) -> None:
        if type(hardest) is not int or hardest < 1:
            raise OnwardError(f"expected to look at 1 or more new classes, found {hardest!r}")
        super().__init__(per_class=per_class)
        self._distance, self._margin = number("distance", distance), number("margin", margin)
        self._hardest = hardest
        # How many classes were known before this call, and during it its view and budget.
        self._known = 0
        self._call: tuple[View, Budget] | None = None

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars alike."""
        self._call, self._new = (new, budget), len(new)
        return super().training_data(new, budget)

    def init_weights(self, model: "Model", generator: "Generator") -> None:
        """Start from the last weights, with those of new classes imprinted."""
        if self._teacher and self._call is not None and may_read_again(self._call[1]):
            self._imprint(model, *self._call)

    def frozen_rows(self, model: "Model") -> dict[str, int]:
        """Return the weights of old classes."""
        return {"head.weight": self._teacher.classes}

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss, the distance of features and the margin."""
        loss = super().compute_loss(batch)
        if not self._teacher:
            return loss
        teacher_features = self._teacher.model(batch.model).embed(batch.inputs)
        old, new = self._teacher.classes, batch.model.classes - self._teacher.classes
        weight = self._distance * math.sqrt(old / max(new, 1))
        distance = feature_distance(batch.features, teacher_features)
        return loss + weight * distance + self._margin_loss(batch)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Choose exemplars, and make the model the teacher."""
        self._call, self._known = None, model.classes
        super().on_learn_end(model, new, budget)

    def _imprint(self, model: "Model", new: View, budget: Budget) -> None:
        import torch  # loaded when it is needed

        from onward.models.classifier import unit_vectors

        weight, size = model.head.weight, self.setting.recipe.batch_size
        length = weight[: self._known].norm(dim=1).mean()
        for label in range(self._known, model.classes):
            here = np.flatnonzero(new.newest == label)[:_IMPRINTED_ON]
            if len(here):
                view = new.of(new.rows[here], new.labels[here])
                features = torch.from_numpy(extract_features(model, view, budget, size))
                units = unit_vectors(features.to(weight.device))
                mean = unit_vectors(units.mean(0, keepdim=True))
                weight[label] = mean[0] * length

    def _margin_loss(self, batch: Batch) -> "Tensor":
        """Return by how much the closest new classes violate the margin of replayed samples."""
        import torch  # loaded when it is needed

        old = self._teacher.classes
        targets = batch.targets if batch.targets.ndim == 1 else batch.targets.max(1).values
        replayed = torch.from_numpy(batch.positions >= self._new).to(targets.device)
        here = (replayed & (targets < old)).nonzero()[:, 0]
        closest = min(self._hardest, batch.outputs.shape[1] - old)
        if not closest:
            return torch.zeros((), device=targets.device)
        # As in the released code, eta is a constant here.
        cosines: Tensor = batch.outputs[here] / batch.model.head.eta.detach()
        new_cosines = cosines[:, old:].topk(closest, dim=1).values
        violation = self._margin - cosines.gather(1, targets[here, None]) + new_cosines
        violated = violation.clamp(min=0).sum() / max(violation.numel(), 1)
        return batch.average(violated, len(here))


def feature_distance(features: "Tensor", teacher_features: "Tensor") -> "Tensor":
    """Return 1 − cos of features and the teacher's, as a mean over rows."""
    from onward.models.classifier import unit_vectors  # torch, when it is needed

    return 1 - (unit_vectors(features) * unit_vectors(teacher_features)).sum(1).mean()
