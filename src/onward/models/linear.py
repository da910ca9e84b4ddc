"""A linear probe with its gradient written out: no graph, two matrix products a step."""

import copy
from collections.abc import Mapping

import torch

from onward.errors import OnwardError


class LinearProbe:
    """Logits = W x + b.

    Parameters
    ----------
    shape
        The shape of one input: its number of features.
    classes
        The number of classes to begin with.
    generator
        Draws the weights, uniform in ±1/√width as `torch.nn.Linear` does.
    """

    # A matrix product with 11 columns takes longer than one with 16: vector registers are
    # filled in multiples of 8 or 16. The unused rows stay zero and are never shown.
    MULTIPLE = 16
    head = ("weight", "bias")

    def __init__(self, shape: tuple[int, ...], classes: int, generator: torch.Generator) -> None:
        self._width = width_of(shape)
        self.classes = 0
        self.buffers: dict[str, torch.Tensor] = {}
        self.parameters = {"weight": torch.empty(0, self._width), "bias": torch.empty(0)}
        self.grow(classes, generator)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return self._width * self.classes

    @property
    def size(self) -> int:
        """The number of parameters, without the rows that only fill up a register."""
        return (self._width + 1) * self.classes

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""
        self._draw(0, generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes; those known before keep their weights."""
        known = self.classes
        if classes <= known:
            return
        padded = -(-classes // self.MULTIPLE) * self.MULTIPLE
        for name, old in self.parameters.items():
            new = torch.zeros(padded, *old.shape[1:])
            new[:known] = old[:known]
            self.parameters[name] = new
        self.classes = classes
        self._draw(known, generator)

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        logits = torch.nn.functional.linear(
            inputs, self.parameters["weight"], self.parameters["bias"]
        )
        return logits[:, : self.classes]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, and remember the inputs for `backward`."""
        self._inputs = inputs
        return self.predict(inputs)

    def backward(self, slope: torch.Tensor) -> None:
        """Set the gradient of the last `forward` on both parameters."""
        weight, bias = (gradient_of(p)[: self.classes] for p in self.parameters.values())
        torch.mm(slope.t(), self._inputs, out=weight)
        torch.sum(slope, 0, out=bias)

    def forget(self) -> None:
        """Let go of the last inputs."""
        self._inputs = torch.empty(0, self._width)

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient: slope² ᵀ input², one product."""
        squares = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        squares["weight"][: self.classes] = (slopes**2).t() @ inputs**2
        squares["bias"][: self.classes] = (slopes**2).sum(0)
        return squares

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "LinearProbe":
        """Return a probe with other weights."""
        other = copy.copy(self)
        other.parameters, other.classes = dict(weights), classes
        return other

    def _draw(self, first: int, generator: torch.Generator) -> None:
        for parameter in self.parameters.values():
            draw_uniform(parameter[first : self.classes], self._width, generator)


def width_of(shape: tuple[int, ...]) -> int:
    """Return the number of features of an input, or say that it has another shape."""
    if len(shape) != 1:
        raise OnwardError(
            f"expected inputs with one axis, their features; found the shape {shape}. A linear "
            "layer cannot read images: choose features, or the model resnet18"
        )
    return shape[0]


def draw_uniform(weights: torch.Tensor, width: int, generator: torch.Generator) -> None:
    """Draw weights uniform in ±1/√width, as `torch.nn.Linear` does."""
    bound = width**-0.5
    weights.copy_(torch.rand(weights.shape, generator=generator) * 2 * bound - bound)


def gradient_of(parameter: torch.Tensor) -> torch.Tensor:
    """Return where a parameter's gradient goes: one buffer for all steps."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad
