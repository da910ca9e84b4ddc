"""A quadratic pull towards earlier weights, and what methods share that are held back by it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from onward.saved import Saved
from onward.train.every import Every
from onward.train.method import Method
from onward.train.weights import copied, fitted_to

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class Anchor(Saved):
    """The penalty λ Σ importance · (w − w*)², by its gradient 2 λ importance · (w − w*).

    λ is its strength. Weights of classes that came after the anchor was set are free.
    """

    saved = ("_weights", "importance")

    def __init__(self, strength: float) -> None:
        self._strength = strength
        self._weights: dict[str, Tensor] = {}
        self.importance: dict[str, Tensor] = {}

    def pull(self, model: "Model") -> None:
        """Add the penalty's gradient to the model's."""
        if not self._weights:
            return
        for name, parameter in model.named_parameters():
            weights, importance = self._weights[name], self.importance[name]
            if parameter.grad is not None:
                known = slice(len(weights)) if weights.ndim else ...
                away = importance * (parameter[known] - weights)
                parameter.grad[known].add_(away, alpha=2 * self._strength)

    def move(self, model: "Model", importance: "Mapping[str, Tensor]") -> None:
        """Set the anchor at the model's weights."""
        self._weights, self.importance = copied(model), fitted_to(model, importance)


class Anchored(Method):
    """Abstract: finetune with a pull towards the weights of the last consolidation.

    What is gathered for the next anchor is saved within a call too.
    """

    saved: ClassVar[tuple[str, ...]] = ("_anchor", "_every")

    def __init__(self, strength: float, every: int | None) -> None:
        self._anchor = Anchor(strength)
        self._every = Every(every)
