"""What the gradient learner needs of a model."""

from collections.abc import Mapping
from typing import Protocol

import torch


class Model(Protocol):
    """A function with weights, its gradient, and its cost.

    ``macs`` is the number of multiply-accumulates of one sample's forward pass.
    """

    parameters: dict[str, torch.Tensor]
    classes: int

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""

    @property
    def size(self) -> int:
        """The number of parameters."""

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes; those known before keep their weights."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs, and remember what `backward` needs."""

    def backward(self, slope: torch.Tensor) -> None:
        """Turn a slope at the last outputs into a gradient on every parameter.

        It may be called more than once for the same outputs.
        """

    def squared_gradient(self, slopes: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return, summed over samples, the square of each sample's own gradient.

        The slopes are those at the last outputs, one row per sample.
        """

    def frozen(self, parameters: Mapping[str, torch.Tensor], classes: int) -> "Model":
        """Return a model of this kind with other weights, that only predicts: a teacher."""
