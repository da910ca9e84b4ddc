"""A linear probe with its gradient written out: no graph, two matrix products a step."""

import copy
from collections.abc import Mapping

import torch

from onward.errors import OnwardError
from onward.models.shared import Trained


class Probe(Trained):
    """Abstract: a last layer, which by itself is a model on features."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.width, self.classes = width_of(shape), 0
        self.buffers = {}
        self.forget()

    @property
    def features(self) -> torch.Tensor:
        """The last inputs: nothing lies below this head."""
        return self.seen

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return self.width * self.classes

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the inputs, which are its features."""
        return inputs

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        raise NotImplementedError

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, and remember the inputs for `backward`."""
        self.seen = inputs
        return self.predict(inputs)

    def forget(self) -> None:
        """Let go of the last inputs."""
        self.seen = torch.empty(0, self.width)


class LinearProbe(Probe):
    """Logits = W x + b.

    Parameters
    ----------
    shape
        The shape of one input: its number of features.
    classes
        The number of classes to begin with.
    generator
        Draws the weights, uniform in ±1/√width as `torch.nn.Linear` does.
    normal
        Whether weights are drawn from a normal distribution of deviation 1/√width instead.
    """

    # A matrix product with 11 columns takes longer than one with 16: vector registers are
    # filled in multiples of 8 or 16. The rows between are zero, and no parameter shows them.
    MULTIPLE = 16

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        normal: bool = False,
    ) -> None:
        super().__init__(shape)
        self._normal = normal
        self.parameters = {"weight": torch.empty(0, self.width), "bias": torch.empty(0)}
        self.grow(classes, generator)

    @property
    def head(self) -> dict[str, torch.Tensor]:
        """All that has one row per class."""
        return self.parameters

    @property
    def room(self) -> int:
        """The number of rows, those that only fill up a register included."""
        return -(-self.classes // self.MULTIPLE) * self.MULTIPLE

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""
        self._draw(0, generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes; those known before keep their weights."""
        known = self.classes
        if classes > known:
            self.classes = classes
            self.move()
            self._draw(known, generator)

    def move(self, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None) -> None:
        """Let the weights live in these rows, by default in rows of their own."""
        self._weight = torch.zeros(self.room, self.width) if weight is None else weight
        self._bias = torch.zeros(self.room) if bias is None else bias
        for name, home in (("weight", self._weight), ("bias", self._bias)):
            before, shown = self.parameters[name], home[: self.classes]
            shown[: len(before)] = before
            self.parameters[name] = shown

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        logits = torch.nn.functional.linear(inputs, self._weight, self._bias)
        return logits[:, : self.classes]

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the last `forward` on both parameters."""
        # Rows for the whole room: a product of another shape may add in another order, and a probe
        # is to learn the same, bit for bit, whoever stands beside it.
        padded = torch.nn.functional.pad(slope, (0, self.room - self.classes))
        self.parameters["weight"].grad = (padded.t() @ self.seen)[: self.classes]
        self.parameters["bias"].grad = slope.sum(0)

    def slope_below(self, slope: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """Take a slope at the outputs for these inputs through this layer."""
        return slope @ self.parameters["weight"]

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient: slope² ᵀ input², one product."""
        squares = slopes**2
        return {"weight": squares.t() @ inputs**2, "bias": squares.sum(0)}

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "LinearProbe":
        """Return a probe with other weights."""
        other = copy.copy(self)
        other.parameters, other.classes = dict(weights), classes
        other.move()
        return other

    def _draw(self, first: int, generator: torch.Generator) -> None:
        for name, parameter in self.parameters.items():
            if self._normal and name == "weight":
                drawn = torch.randn(parameter[first:].shape, generator=generator)
                parameter[first:] = drawn * self.width**-0.5
            else:
                draw_uniform(parameter[first:], self.width, generator)


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
