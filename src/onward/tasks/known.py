"""What task kinds share: with and without classes as targets, and a check of outputs."""

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from onward.errors import DivergedError, OnwardError
from onward.types import Array

if TYPE_CHECKING:
    from torch import Tensor


class AsTested:
    """Abstract: samples to learn from are a test as they are."""

    compares_samples: ClassVar[bool] = False

    def as_test(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """Return both as they are."""
        return outputs, targets


class WithClasses(AsTested):
    """Abstract: targets are classes, and outputs one number for each class."""

    def distillation_loss(
        self: Any, outputs: "Tensor", teacher: "Tensor", temperature: float = 1.0
    ) -> "Tensor":
        """Return the task loss to the teacher's probabilities, on the classes that both know."""
        known = outputs[:, : teacher.shape[1]] / temperature
        loss: Tensor = self.soft_target_loss(known, self.probabilities(teacher / temperature))
        return loss


class WithoutClasses:
    """Abstract: targets are no probabilities of classes, but what `targets` says."""

    targets: ClassVar[str]

    def soft_targets(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: there are no classes."""
        raise OnwardError(f"expected a task whose targets are classes, found {self.targets}")

    probabilities = soft_target_loss = soft_targets


def require_finite(outputs: Array, what: str, who: str = "model") -> None:
    """Raise if outputs are not numbers any more."""
    if not np.isfinite(outputs).all():
        raise DivergedError(
            f"expected finite {what} from predict(view), found NaN or infinity; the {who} has "
            "probably diverged: lower its learning rate (--training lr=…)"
        )
