"""Gradient caching: batches larger than memory, with the gradient of the whole batch."""

from typing import Any

import torch

from onward.errors import OnwardError
from onward.models.model import Model
from onward.models.wrapped import Wrapped


class GradientCache(Wrapped):
    """Computes a batch in micro-batches, and keeps the graph of none.

    Losses are functions of the outputs of a whole batch, so a loss that compares every sample with
    every other one, as CLIP's does, has the same gradient at the outputs. Then each micro-batch is
    computed once more, with its rows of that gradient, and the gradients of the parameters are
    added up. It takes one more forward pass, and the memory of one micro-batch.

    Parameters
    ----------
    inner
        A model whose samples do not depend on each other.
    micro_batch_size
        How many samples are computed together.

    References
    ----------
    Gao, Zhang, Han and Callan, Scaling Deep Contrastive Learning Batch Size under Memory Limited
    Setup, RepL4NLP 2021.
    """

    def __init__(self, inner: Model, micro_batch_size: int) -> None:
        if inner.uses_batch_statistics or inner.is_random:
            found = "boxes" if inner.is_detector else "batch normalization or dropout"
            raise OnwardError(
                "expected a model whose samples do not depend on each other to compute batches in "
                f"parts of micro_batch_size = {micro_batch_size}, found one with {found}. Leave "
                "micro_batch_size out, or choose another model"
            )
        super().__init__(inner)
        self._size = micro_batch_size
        self._inputs: torch.Tensor | None = None
        self._outputs = self._features = torch.empty(0)

    @property
    def features(self) -> torch.Tensor:
        """The inputs of the last layer in the last `forward`."""
        found: torch.Tensor = self.inner.features if self._inputs is None else self._features
        return found

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs; for several micro-batches, as a leaf of the graph."""
        self.clear_graph()
        if len(inputs) <= self._size:
            found: torch.Tensor = self.inner(inputs)
            return found
        outputs, features = [], []
        with torch.no_grad():
            for part in self._parts(len(inputs)):
                outputs.append(self.inner(inputs[part]))
                features.append(self.inner.features)
        self.inner.clear_graph()
        self._inputs = inputs
        self._outputs = torch.cat(outputs).requires_grad_()
        self._features = torch.cat(features).requires_grad_()
        return self._outputs

    def continue_backward(self) -> None:
        """Add the gradients of all micro-batches to the parameters."""
        if self._inputs is None:
            self.inner.continue_backward()
            return
        for part in self._parts(len(self._inputs)):
            with torch.enable_grad():
                outputs = self.inner(self._inputs[part])
            continued = [(outputs, self._outputs.grad), (self.inner.features, self._features.grad)]
            # The features of a linear probe are its inputs: nothing is to be learned below them.
            pairs = [
                (tensor, gradient[part])
                for tensor, gradient in continued
                if gradient is not None and tensor.requires_grad
            ]
            if pairs:  # a loss may depend on parameters alone
                tensors, gradients = zip(*pairs, strict=True)
                torch.autograd.backward(tensors, gradients)
        self.clear_graph()

    def clear_graph(self) -> None:
        """Release the last inputs and features."""
        self._inputs, self._outputs, self._features = None, torch.empty(0), torch.empty(0)
        self.inner.clear_graph()

    def _parts(self, samples: int) -> list[slice]:
        return [slice(start, start + self._size) for start in range(0, samples, self._size)]

    def _around(self, inner: Model) -> Any:
        return GradientCache(inner, self._size)
