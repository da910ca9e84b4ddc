"""A quadratic penalty on changes of weights, and what methods share that have it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from onward.saved import Saved
from onward.train.method import Method
from onward.train.schedules import ConsolidationTrigger
from onward.train.weights import copied, fitted_to

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class QuadraticPenalty(Saved):
    """The penalty λ Σ importance · (w − w*)² on the distance to the anchor w*.

    λ is its strength. Weights of classes that came after the anchor was set are free.
    """

    saved = ("_weights", "importance")

    def __init__(self, strength: float) -> None:
        self._strength = strength
        self._weights: dict[str, Tensor] = {}
        self.importance: dict[str, Tensor] = {}

    def add_gradient(self, model: "Model") -> None:
        """Add the penalty's gradient to the model's: 2 λ importance · (w − w*)."""
        if not self._weights:
            return
        for name, parameter in model.named_parameters():
            weights, importance = self._weights[name], self.importance[name]
            if parameter.grad is not None:
                known = slice(len(weights)) if weights.ndim else ...
                difference = importance * (parameter[known] - weights)
                parameter.grad[known].add_(difference, alpha=2 * self._strength)

    def set_anchor(self, model: "Model", importance: "Mapping[str, Tensor]") -> None:
        """Set the anchor at the model's weights."""
        self._weights, self.importance = copied(model), fitted_to(model, importance)


class PenaltyMethod(Method):
    """Abstract: finetune with a quadratic penalty, whose anchor are consolidated weights.

    What is gathered for the next anchor is saved within a call too.
    """

    saved: ClassVar[tuple[str, ...]] = ("_anchor", "_every")

    def __init__(self, strength: float, every: int | None) -> None:
        self._anchor = QuadraticPenalty(strength)
        self._every = ConsolidationTrigger(every)
