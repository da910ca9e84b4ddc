"""How a model is trained: pure data."""

from dataclasses import dataclass
from typing import Literal

from onward.errors import OnwardError


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

    def __post_init__(self) -> None:
        whole = ("batch_size", "epochs", *(["memory"] if self.memory is not None else []))
        for name in whole:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise OnwardError(f"expected {name} as a whole number from 1 on, found {value!r}")
        for name in ("learning_rate", "momentum", "weight_decay", "decay"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < float("inf")):
                raise OnwardError(f"expected {name} as a number from 0 on, found {value!r}")
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in self.decay_at):
            raise OnwardError(f"expected decay_at as shares from 0 to 1, found {self.decay_at!r}")

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of one step out of several."""
        passed = sum(step >= share * steps for share in self.decay_at)
        return self.learning_rate * self.decay**passed
