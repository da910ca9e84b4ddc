"""How a model is trained: pure data."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Recipe:
    """Stochastic gradient descent in numbers.

    The learning rate starts at `learning_rate` in every call of `learn` and is multiplied by
    `decay` each time one of the shares `decay_at` of the steps has passed. `memory` is the number
    of samples that a method with a memory keeps; ``None`` means as many as the first view has.
    `augment` is how images are varied while they are trained on, see `onward.train.augment`.
    """

    model: str
    learning_rate: float
    momentum: float
    weight_decay: float
    batch_size: int
    epochs: int
    decay_at: tuple[float, ...] = ()
    decay: float = 0.1
    memory: int | None = None
    augment: Literal["none", "flip", "crop_flip"] = "none"

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of one step out of several."""
        passed = sum(step >= share * steps for share in self.decay_at)
        return self.learning_rate * self.decay**passed
