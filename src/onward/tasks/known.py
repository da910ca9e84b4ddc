"""What task kinds share: outputs that are numbers, and a teacher that knows fewer classes."""

from typing import TYPE_CHECKING

import numpy as np

from onward.errors import DivergedError
from onward.types import Array, Loss, Task

if TYPE_CHECKING:
    from torch import Tensor


def require_finite(found: Array, what: str, who: str = "model") -> None:
    """Raise if outputs are not numbers any more."""
    if not np.isfinite(found).all():
        raise DivergedError(
            f"expected finite {what} from predict(view), found NaN or infinity; the {who} has "
            "probably diverged: lower its learning rate"
        )


def distance_on_known(
    task: Task, outputs: "Tensor", teacher: "Tensor", temperature: float = 1.0
) -> Loss:
    """Return a task's loss towards a teacher's probabilities, on the classes that it knows."""
    known = teacher.shape[1]
    cooled = outputs[:, :known] / temperature
    found = task.towards(cooled, task.probabilities(teacher / temperature))
    slope = outputs.new_zeros(outputs.shape)
    slope[:, :known] = found.slope / temperature
    return Loss(slope, found.value)
