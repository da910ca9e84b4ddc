"""A head that sees directions only: how far a feature points towards each class."""

import copy
from collections.abc import Mapping

import torch

from onward.models.linear import Probe, draw_uniform

# Below this length a vector has no direction, and no slope passes through it.
_SHORTEST = 1e-8


class CosineProbe(Probe):
    """Logits = eta · cos(w, x), with one weight vector per class and one eta for all of them.

    No class can win by the length of its weights, which those that were learned last otherwise do.

    Parameters
    ----------
    shape
        The shape of one input: its number of features.
    classes
        The number of classes to begin with.
    generator
        Draws the weights, uniform in ±1/√width. Eta begins at 1.

    References
    ----------
    Hou, Pan, Loy, Wang and Lin, Learning a Unified Classifier Incrementally via Rebalancing,
    CVPR 2019.
    """

    def __init__(self, shape: tuple[int, ...], classes: int, generator: torch.Generator) -> None:
        super().__init__(shape)
        self.parameters = {"weight": torch.empty(0, self.width), "eta": torch.ones(1)}
        self.grow(classes, generator)

    @property
    def head(self) -> dict[str, torch.Tensor]:
        """All that has one row per class."""
        return {"weight": self.parameters["weight"]}

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""
        draw_uniform(self.parameters["weight"], self.width, generator)
        self.parameters["eta"].fill_(1)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes; those known before keep their weights."""
        known = self.parameters["weight"]
        if classes > len(known):
            grown = torch.empty(classes, self.width)
            grown[: len(known)] = known
            draw_uniform(grown[len(known) :], self.width, generator)
            self.parameters["weight"], self.classes = grown, classes

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        return self.parameters["eta"] * self._cosines(inputs)

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the last `forward` on weights and eta."""
        weight, eta = self.parameters["weight"], self.parameters["eta"]
        inputs, _ = directions(self.seen)
        eta.grad = (slope * self._cosines(self.seen)).sum().reshape(1)
        weight.grad = through_direction((eta * slope).t() @ inputs, weight)

    def slope_below(self, slope: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """Take a slope at the outputs for these inputs through this layer."""
        weights, _ = directions(self.parameters["weight"])
        return through_direction((self.parameters["eta"] * slope) @ weights, inputs)

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient.

        That of a class is g (x − cos w) / |w| with directions x and w, whose square is a sum of
        three products over samples.
        """
        xs, _ = directions(inputs)
        ws, length = directions(self.parameters["weight"])
        cosines = xs @ ws.t()
        squares = (self.parameters["eta"] * slopes) ** 2
        crossed = (squares * cosines).t() @ xs
        along = (squares * cosines**2).sum(0)[:, None]
        summed = squares.t() @ xs**2 - 2 * ws * crossed + ws**2 * along
        # Rounding may leave less than nothing of what is a sum of squares.
        return {
            "weight": (summed / length**2).clamp_(min=0),
            "eta": ((slopes * cosines).sum(1) ** 2).sum().reshape(1),
        }

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "CosineProbe":
        """Return a probe with other weights."""
        other = copy.copy(self)
        other.parameters, other.classes = dict(weights), classes
        return other

    def _cosines(self, inputs: torch.Tensor) -> torch.Tensor:
        weights, _ = directions(self.parameters["weight"])
        return directions(inputs)[0] @ weights.t()


def directions(vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows with length 1, and the length that each had; too short ones become zero.

    Examples
    --------
    >>> directions(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))[0]
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    length = vectors.norm(dim=1, keepdim=True)
    length = length.where(length > _SHORTEST, torch.inf)
    return vectors / length, length


def through_direction(slope: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Take a slope at the directions of vectors to the vectors themselves."""
    units, length = directions(vectors)
    return (slope - (slope * units).sum(1, keepdim=True) * units) / length
