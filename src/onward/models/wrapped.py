"""A model inside another one, which does some of its work in another way."""

from collections.abc import Mapping

import torch

from onward.models.model import Model


class Wrapped:
    """Abstract: everything is the inner model's, but for what a subclass does otherwise.

    Parameters
    ----------
    inner
        The model that has the weights.
    """

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def parameters(self) -> dict[str, torch.Tensor]:
        """Those of the inner model, themselves and no copies."""
        return self.inner.parameters

    @property
    def buffers(self) -> dict[str, torch.Tensor]:
        """Those of the inner model, themselves and no copies."""
        return self.inner.buffers

    @property
    def mixes(self) -> bool:
        """Whether the inner model mixes the samples of a batch."""
        return self.inner.mixes

    @property
    def shares_loss(self) -> bool:
        """Whether a batch of the inner model has one loss."""
        return self.inner.shares_loss

    @property
    def features(self) -> torch.Tensor:
        """What the head was given in the last `forward`."""
        return self.inner.features

    @property
    def head(self) -> Mapping[str, torch.Tensor]:
        """The names of the parameters with one row per class."""
        return self.inner.head

    @property
    def classes(self) -> int:
        """How many classes it knows."""
        return self.inner.classes

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return self.inner.macs

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.inner.size

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew."""
        self.inner.reset(generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes."""
        self.inner.grow(classes, generator)

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs."""
        return self.inner.predict(inputs)

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features."""
        return self.inner.embed(inputs)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs for a step of training."""
        return self.inner.forward(inputs)

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Turn a slope at the last outputs into a gradient on every parameter."""
        self.inner.backward(slope, feature_slope)

    def forget(self) -> None:
        """Let go of what `forward` remembered."""
        self.inner.forget()

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return, summed over samples, the square of each sample's own gradient."""
        return self.inner.squared_gradient(inputs, slopes)

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> Model:
        """Return a model with other weights, inside a wrapper like this one."""
        return self._around(self.inner.frozen(weights, classes))

    def _around(self, inner: Model) -> Model:
        """Return a wrapper like this one around another model."""
        raise NotImplementedError
