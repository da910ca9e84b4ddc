"""A quadratic pull towards earlier weights, as strong for each as it mattered."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onward.train.weights import copied, fitted, to_arrays, to_tensors

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class Anchor:
    """The penalty λ Σ importance · (w − w*)², by its gradient 2 λ importance · (w − w*).

    Weights of classes that came after the anchor was set are free.

    Parameters
    ----------
    strength
        λ.
    """

    def __init__(self, strength: float) -> None:
        self._strength = strength
        self._weights: dict[str, Tensor] = {}
        self.importance: dict[str, Tensor] = {}

    def pull(self, model: "Model") -> None:
        """Add the penalty's gradient to the model's."""
        if not self._weights:
            return
        for name, parameter in model.parameters.items():
            weights, importance = self._weights[name], self.importance[name]
            if parameter.grad is not None:
                known = slice(len(weights)) if weights.ndim else ...
                away = importance * (parameter[known] - weights)
                parameter.grad[known].add_(away, alpha=2 * self._strength)

    def move(self, model: "Model", importance: "Mapping[str, Tensor]") -> None:
        """Set the anchor at the model's weights."""
        self._weights, self.importance = copied(model), fitted(importance, model.parameters)

    def state(self) -> dict[str, Any]:
        """Return the anchor."""
        return {"weights": to_arrays(self._weights), "importance": to_arrays(self.importance)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take the anchor back."""
        self._weights = to_tensors(state["weights"])
        self.importance = to_tensors(state["importance"])
