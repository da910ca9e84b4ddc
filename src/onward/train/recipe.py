"""How a model is trained: pure data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """Stochastic gradient descent in numbers.

    The learning rate starts at `learning_rate` in every call of `learn` and is multiplied by
    `decay` once `decay_after` of the steps have passed. `memory` is the number of samples that a
    method with a memory keeps; ``None`` means as many as the first view has.
    """

    model: str
    learning_rate: float
    momentum: float
    weight_decay: float
    batch_size: int
    epochs: int
    decay_after: float = 1.0
    decay: float = 0.1
    memory: int | None = None
