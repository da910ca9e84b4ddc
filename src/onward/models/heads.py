"""The last layers that a model can have."""

from collections.abc import Callable, Mapping
from typing import Protocol

import torch

from onward.errors import unknown
from onward.models.cosine import CosineProbe
from onward.models.linear import LinearProbe
from onward.models.model import Model


class Head(Model, Protocol):
    """A model without anything below its last layer, which others can stand on."""

    def slope_below(self, slope: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """Take a slope at the outputs for these inputs through this layer."""

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Head":
        """Return a head with these parameters, that only predicts."""


HEADS: Mapping[str, Callable[..., Head]] = {"linear": LinearProbe, "cosine": CosineProbe}


def make_head(
    kind: str,
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    normal: bool = False,
) -> Head:
    """Make a head, which by itself is a model on features.

    Parameters
    ----------
    kind
        ``linear`` or ``cosine``.
    shape
        The shape of one input: its number of features.
    classes
        The number of classes to begin with.
    generator
        Draws the weights.
    normal
        Whether a linear head draws them from a normal distribution.
    """
    if kind not in HEADS:
        raise unknown("head", kind, HEADS, "docs/design.md")
    options = {"normal": True} if normal and kind == "linear" else {}
    return HEADS[kind](shape, classes, generator, **options)


def linear(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, *, head: str = "linear"
) -> Model:
    """Make a model that is a head and nothing else."""
    return make_head(head, shape, classes, generator)
