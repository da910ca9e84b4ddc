"""What task kinds share: outputs that are numbers, and a teacher that knows fewer classes."""

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from onward.errors import DivergedError, OnwardError
from onward.types import Array, Task

if TYPE_CHECKING:
    from torch import Tensor


class AsTested:
    """Abstract: samples that could be learned from are a test as they are."""

    def as_test(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """Return both as they are."""
        return outputs, targets


class WithoutClasses:
    """Abstract: targets are no probabilities of classes, but what `targets` says."""

    targets: ClassVar[str]

    def soft_targets(self, outputs: Any, targets: Any) -> NoReturn:
        """Raise: there are no classes."""
        raise OnwardError(f"expected a task whose targets are classes, found {self.targets}")

    def probabilities(self, outputs: Any) -> NoReturn:
        """Raise, for the same reason."""
        self.soft_targets(outputs, None)

    def soft_target_loss(self, outputs: Any, probabilities: Any) -> NoReturn:
        """Raise, for the same reason."""
        self.soft_targets(outputs, probabilities)


def require_finite(found: Array, what: str, who: str = "model") -> None:
    """Raise if outputs are not numbers any more."""
    if not np.isfinite(found).all():
        raise DivergedError(
            f"expected finite {what} from predict(view), found NaN or infinity; the {who} has "
            "probably diverged: lower its learning rate (--training lr=…)"
        )


def distillation_on_known_classes(
    task: Task, outputs: "Tensor", teacher: "Tensor", temperature: float
) -> "Tensor":
    """Return a task's loss against a teacher's probabilities, on the classes that it knows."""
    known = outputs[:, : teacher.shape[1]] / temperature
    loss: Tensor = task.soft_target_loss(known, task.probabilities(teacher / temperature))
    return loss
