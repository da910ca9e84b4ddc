"""Last layers with one row per class: linear and cosine."""

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional

from onward.errors import unknown

# A shorter vector has no direction, and no gradient passes through it.
_SHORTEST = 1e-8


class Head(nn.Module):
    """Abstract: a last layer whose ``weight`` has one row per class."""

    weight: nn.Parameter

    def __init__(self, in_features: int, classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.in_features = in_features
        self.weight = nn.Parameter(torch.empty(0, in_features))
        self._add_parameters()
        self.add_classes(classes, generator)

    @property
    def rows(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class, by name."""
        return {"weight": self.weight}

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew."""
        self._init_rows(0, generator)

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend it to this many classes; known ones keep their weights."""
        known = len(self.weight)
        if classes > known:
            self.set_classes(classes)
            self._init_rows(known, generator)

    def set_classes(self, classes: int) -> None:
        """Give it exactly this many rows; the first ones keep their weights, others are zero."""
        for name, before in self.rows.items():
            rows = before.new_zeros(classes, *before.shape[1:])
            kept = min(classes, len(before))
            rows[:kept] = before.detach()[:kept]
            setattr(self, name, nn.Parameter(rows))

    def _add_parameters(self) -> None:
        """Add the parameters beside ``weight``."""

    def _init_rows(self, first: int, generator: torch.Generator) -> None:
        """Initialize the rows from this one on, uniform in ±1/√in_features as `nn.Linear`."""
        for parameter in self.rows.values():
            draw_uniform(parameter.detach()[first:], self.in_features, generator)


class LinearHead(Head):
    """Logits = W x + b.

    Parameters
    ----------
    in_features, classes, generator
        The number of features and of classes to begin with; what draws the weights.
    normal
        Whether W is drawn from a normal distribution of standard deviation 1/√in_features, instead
        of uniform in ±1/√in_features as `torch.nn.Linear` does.
    """

    bias: nn.Parameter

    def __init__(
        self, in_features: int, classes: int, generator: torch.Generator, *, normal: bool = False
    ) -> None:
        self._normal = normal
        super().__init__(in_features, classes, generator)

    @property
    def rows(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class, by name."""
        return {"weight": self.weight, "bias": self.bias}

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        return functional.linear(features, self.weight, self.bias)

    def _add_parameters(self) -> None:
        self.bias = nn.Parameter(torch.empty(0))

    def _init_rows(self, first: int, generator: torch.Generator) -> None:
        if self._normal:
            weight = self.weight.detach()[first:]
            drawn = torch.randn(weight.shape, generator=generator) * self.in_features**-0.5
            weight.copy_(drawn)
            draw_uniform(self.bias.detach()[first:], self.in_features, generator)
        else:
            super()._init_rows(first, generator)


class CosineHead(Head):
    """Logits = eta · cos(w, x), with one weight vector per class and one eta for all of them.

    No class can win by the length of its weights, as those learned last otherwise do.

    References
    ----------
    Hou, Pan, Loy, Wang and Lin, Learning a Unified Classifier Incrementally via Rebalancing,
    CVPR 2019.
    """

    eta: nn.Parameter

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        return self.eta * (unit_vectors(features) @ unit_vectors(self.weight).t())

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, and set eta to 1."""
        super().init_weights(generator)
        self.eta.detach().fill_(1)

    def _add_parameters(self) -> None:
        self.eta = nn.Parameter(torch.ones(1))


HEADS: Mapping[str, type[Head]] = {"linear": LinearHead, "cosine": CosineHead}


def make_head(
    kind: str, in_features: int, classes: int, generator: torch.Generator, *, normal: bool = False
) -> Head:
    """Make a head; a linear one may draw its weights from a normal distribution."""
    if kind not in HEADS:
        raise unknown("head", kind, HEADS, "docs/design.md")
    if normal and kind == "linear":
        return LinearHead(in_features, classes, generator, normal=True)
    return HEADS[kind](in_features, classes, generator)


def unit_vectors(vectors: torch.Tensor) -> torch.Tensor:
    """Return rows scaled to length 1; rows that are too short to have a direction become zero.

    Unlike `torch.nn.functional.normalize`, whose gradient is huge near zero, no gradient passes
    through those.

    Examples
    --------
    >>> unit_vectors(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    length = vectors.norm(dim=1, keepdim=True)
    units: torch.Tensor = vectors / length.where(length > _SHORTEST, torch.inf)
    return units


def draw_uniform(weights: torch.Tensor, in_features: int, generator: torch.Generator) -> None:
    """Draw weights uniform in ±1/√in_features, as `torch.nn.Linear` does."""
    bound = in_features**-0.5
    # Drawn by the generator, which is the CPU's, and then copied to where the weights are.
    weights.copy_(torch.rand(weights.shape, generator=generator) * 2 * bound - bound)
