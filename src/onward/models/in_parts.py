"""Batches larger than memory: worked on in parts, with the gradient of the whole."""

from typing import Any

import torch

from onward.errors import OnwardError
from onward.models.model import Model
from onward.models.wrapped import Wrapped


class InParts(Wrapped):
    """Works on so many samples of a batch at once, and remembers the graph of none.

    Losses are functions of the outputs of a whole batch, so a loss that compares every sample with
    every other one, as CLIP's does, has the same slope as ever. Going back, each part is looked at
    once more, with its rows of the slope, and the gradients are added up. It takes one forward pass
    more, and the memory of one part.

    Parameters
    ----------
    inner
        A model that makes the same of a sample, whoever stands beside it.
    at_once
        How many samples are worked on together.

    References
    ----------
    Gao, Zhang, Han and Callan, Scaling Deep Contrastive Learning Batch Size under Memory Limited
    Setup, RepL4NLP 2021.
    """

    def __init__(self, inner: Model, at_once: int) -> None:
        if inner.mixes:
            raise OnwardError(
                "expected a model whose samples do not depend on each other to work on batches in "
                f"parts of at_once = {at_once}, found one with batch normalisation or with boxes. "
                "Leave at_once out, or choose another model"
            )
        super().__init__(inner)
        self._at_once = at_once
        self._inputs: torch.Tensor | None = None
        self._features: list[torch.Tensor] = []

    @property
    def features(self) -> torch.Tensor:
        """What the head was given in the last `forward`."""
        return torch.cat(self._features) if self._features else self.inner.features

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs; of a batch in several parts, remember no more than its inputs."""
        self.forget()
        if len(inputs) <= self._at_once:
            return self.inner.forward(inputs)
        outputs = []
        for part in self._parts(len(inputs)):
            outputs.append(self.inner.forward(inputs[part]))
            self._features.append(self.inner.features)
        self.inner.forget()
        self._inputs = inputs
        return torch.cat(outputs)

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the sum of the gradients of all parts on all parameters."""
        inputs = self._inputs
        if inputs is None:
            self.inner.backward(slope, feature_slope)
            return
        sums: dict[str, torch.Tensor] = {}
        for part in self._parts(len(inputs)):
            self.inner.forward(inputs[part])
            below = None if feature_slope is None else feature_slope[part]
            self.inner.backward(slope[part], below)
            for name, parameter in self.parameters.items():
                if parameter.grad is None:
                    continue
                if name in sums:
                    sums[name].add_(parameter.grad)
                else:  # a copy: a model may write all its gradients into one place
                    sums[name] = parameter.grad.clone()
        self.inner.forget()
        for name, total in sums.items():
            self.parameters[name].grad = total

    def forget(self) -> None:
        """Let go of the last inputs."""
        self._inputs, self._features = None, []
        self.inner.forget()

    def _parts(self, samples: int) -> list[slice]:
        return [slice(start, start + self._at_once) for start in range(0, samples, self._at_once)]

    def _around(self, inner: Model) -> Any:
        return InParts(inner, self._at_once)
