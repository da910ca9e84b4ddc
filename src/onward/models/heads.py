"""The last layers that a model can have."""

from collections.abc import Callable, Mapping
from typing import Protocol

import torch

from onward.errors import unknown
from onward.models.cosine import CosineProbe
from onward.models.linear import LinearProbe
from onward.models.model import Model
from onward.models.shared import Trained


class Head(Model, Protocol):
    """A model without anything below its last layer, which others can stand on."""

    def slope_below(self, slope: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """Take a slope at the outputs for these inputs through this layer."""

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Head":
        """Return a head with these parameters, that only predicts."""


class OnHead(Trained):
    """Abstract: a model that ends in a head, and learns the features below it."""

    _head: Head

    @property
    def features(self) -> torch.Tensor:
        """What the head was given in the last `forward`."""
        return self._head.features

    @property
    def head(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class."""
        return self._head.head

    @property
    def classes(self) -> int:
        """How many classes it knows."""
        return self._head.classes

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features."""
        raise NotImplementedError

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        return self._head.predict(self.embed(inputs))

    def _slope_below(
        self, slope: torch.Tensor, features: torch.Tensor, added: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Take a slope through the head, and add what a loss has at the features itself."""
        below = self._head.slope_below(slope, features)
        return below if added is None else below + added


HEADS: Mapping[str, Callable[..., Head]] = {"linear": LinearProbe, "cosine": CosineProbe}


def make_head(
    kind: str,
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    normal: bool = False,
) -> Head:
    """Make a head; a linear one may draw its weights from a normal distribution."""
    if kind not in HEADS:
        raise unknown("head", kind, HEADS, "docs/design.md")
    options = {"normal": True} if normal and kind == "linear" else {}
    return HEADS[kind](shape, classes, generator, **options)


def linear(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, *, head: str = "linear"
) -> Model:
    """Make a model that is a head and nothing else."""
    return make_head(head, shape, classes, generator)
