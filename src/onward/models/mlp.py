"""Two layers with their gradient written out: a linear probe on features that are learned."""

import copy
from collections.abc import Mapping

import torch

from onward.models.heads import OnHead, make_head
from onward.models.linear import draw_uniform, width_of


class MLP(OnHead):
    """Logits = W relu(V x + a) + b, by default with 2,048 hidden units as in CLEAR.

    Parameters
    ----------
    shape
        The shape of one input: its number of features.
    classes
        The number of classes to begin with.
    generator
        Draws the weights, uniform in ±1/√width of each layer as `torch.nn.Linear` does.
    head
        The last layer: ``linear`` or ``cosine``.
    hidden
        The number of hidden units.
    """

    HIDDEN = 2048

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
        hidden: int = HIDDEN,
    ) -> None:
        self._width, self._units = width_of(shape), hidden
        self._head = make_head(head, (hidden,), classes, generator)
        self.buffers = {}
        self.parameters = {
            "hidden_weight": torch.empty(hidden, self._width),
            "hidden_bias": torch.empty(hidden),
            **self._head.parameters,
        }
        self._draw_hidden(generator)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return self._width * self._units + self._head.macs

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""
        self._head.reset(generator)
        self._draw_hidden(generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes; those known before keep their weights."""
        self._head.grow(classes, generator)
        self.parameters.update(self._head.parameters)

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the hidden units."""
        weight, bias = self.parameters["hidden_weight"], self.parameters["hidden_bias"]
        return torch.nn.functional.linear(inputs, weight, bias).relu_()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, and remember both layers' inputs for `backward`."""
        self._inputs = inputs
        return self._head.forward(self.embed(inputs))

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the last `forward` on all parameters."""
        self._head.backward(slope)
        # Units that were off pass nothing on.
        slope = self._slope_below(slope, self.features, feature_slope) * (self.features > 0)
        torch.mm(slope.t(), self._inputs, out=_gradient_of(self.parameters["hidden_weight"]))
        torch.sum(slope, 0, out=_gradient_of(self.parameters["hidden_bias"]))

    def forget(self) -> None:
        """Let go of the last inputs."""
        self._inputs = torch.empty(0, 0)
        self._head.forget()

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient, layer by layer as a probe's."""
        hidden = self.embed(inputs)
        below = (self._slope_below(slopes, hidden) * (hidden > 0)) ** 2
        return {
            "hidden_weight": below.t() @ inputs**2,
            "hidden_bias": below.sum(0),
            **self._head.squared_gradient(hidden, slopes),
        }

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "MLP":
        """Return a model with other weights."""
        other = copy.copy(self)
        other.parameters = dict(weights)
        other._head = self._head.frozen(
            {name: weights[name] for name in self._head.parameters}, classes
        )
        return other

    def _draw_hidden(self, generator: torch.Generator) -> None:
        for name in ("hidden_weight", "hidden_bias"):
            draw_uniform(self.parameters[name], self._width, generator)


def _gradient_of(parameter: torch.Tensor) -> torch.Tensor:
    """Return where a parameter's gradient goes: one buffer for all steps."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad
