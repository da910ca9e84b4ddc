"""What the gradient learner needs of a model."""

from collections.abc import Mapping
from typing import Protocol

import torch


class Model(Protocol):
    """A function with weights, its gradient, and its cost.

    ``parameters`` are learned by descent; ``buffers`` (running means, say) move along and are as
    much part of the model. ``head`` are the rows of the last layer, one per class; where outputs
    are classes its weight is called ``weight``, and what lies below it are the features. Training
    and predicting are two verbs, since some models do not do the same in both.
    """

    @property
    def parameters(self) -> dict[str, torch.Tensor]:
        """What is learned by descent, by name."""

    @property
    def buffers(self) -> dict[str, torch.Tensor]:
        """What moves along, by name."""

    @property
    def mixes(self) -> bool:
        """Whether the samples of a batch that is trained on are more than so many single ones.

        Batch normalisation mixes them: what is made of one then depends on the others.
        """

    @property
    def shares_loss(self) -> bool:
        """Whether a batch has one loss, a number with its graph, and no slopes by sample."""

    @property
    def features(self) -> torch.Tensor:
        """What the head was given in the last `forward`."""

    @property
    def head(self) -> Mapping[str, torch.Tensor]:
        """The last layer as rows, one per class, by parameter: who changes them changes it."""

    @property
    def classes(self) -> int:
        """How many classes it knows."""

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

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs; change nothing, remember nothing."""

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features; change nothing, remember nothing."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs for a step of training, and remember what `backward` needs."""

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Turn a slope at the last outputs into a gradient on every parameter.

        A loss that looks at the features too has a slope there, which is added. It may be called
        more than once for the same outputs.
        """

    def forget(self) -> None:
        """Let go of what `forward` remembered: samples may not outlive their call."""

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return, summed over samples, the square of each sample's own gradient.

        The slopes are those at these inputs' outputs, one row per sample. What is estimated from
        a batch elsewhere is held fixed here: a sample's own gradient knows no other sample.
        """

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Model":
        """Return a model with these parameters and buffers, that only predicts: a teacher."""
