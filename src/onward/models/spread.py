"""A model whose batches are shared out among the processes of a crew."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from onward.crew import Crew
from onward.errors import OnwardError
from onward.models.model import Model


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The inputs of this process's share of a batch, where nobody here has read the others.

    It stands where a batch's inputs do, for a model that takes no more than its share of them.
    """

    rows: torch.Tensor
    samples: int

    def __len__(self) -> int:
        return self.samples


class Spread:
    """Works on this process's share of a batch, and has the outputs and gradients of all of it.

    Every process computes the loss of the whole batch from all outputs, continues backward with the
    rows of its own share, and the gradients are added up: what is learned is what one process would
    learn, also where a loss compares every sample with every other one.

    Parameters
    ----------
    inner
        A model that makes the same of a sample, whoever stands beside it.
    crew
        The processes.
    """

    def __init__(self, inner: Model, crew: Crew) -> None:
        if inner.uses_batch_statistics or inner.is_random:
            raise OnwardError(
                "expected a model whose samples do not depend on each other to share batches out "
                "among processes, found one with batch normalization, dropout or boxes. Run it in "
                "one process, or choose another model"
            )
        self.inner, self._crew = inner, crew
        self._samples = 0
        self._own_outputs = self._outputs = torch.empty(0)
        self._features: torch.Tensor | None = None

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not there yet while a copy is made
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __call__(self, inputs: Any) -> torch.Tensor:
        """Return the outputs of all samples."""
        return self.forward(inputs)

    @property
    def features(self) -> torch.Tensor:
        """The inputs of the last layer in the last `forward`, of all samples."""
        if self._features is None:
            own = self.inner.features.detach()
            self._features = self._crew.gather(own, self._samples).requires_grad_()
        return self._features

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs of all samples."""
        return self._crew.gather(self.inner.predict(self._own(inputs)), len(inputs))

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features of all samples."""
        return self._crew.gather(self.inner.embed(self._own(inputs)), len(inputs))

    def forward(self, inputs: Any) -> torch.Tensor:
        """Return the outputs of all samples, as a leaf of the graph."""
        self._samples, self._features = len(inputs), None
        self._own_outputs = self.inner(self._own(inputs))
        every = self._crew.gather(self._own_outputs.detach(), self._samples)
        self._outputs = every.requires_grad_(torch.is_grad_enabled())
        return self._outputs

    def continue_backward(self) -> None:
        """Add the gradient of the whole batch to all parameters."""
        share = self._crew.share(self._samples)
        pairs = [(self._own_outputs, self._outputs.grad)]
        if self._features is not None:
            pairs.append((self.inner.features, self._features.grad))
        continued = [
            (tensor, gradient[share])
            for tensor, gradient in pairs
            if gradient is not None and tensor.requires_grad
        ]
        if not continued:  # the loss depends on parameters alone
            return
        # What the loss has of parameters directly is the same in every process, and not added up.
        direct = {name: p.grad for name, p in self.inner.named_parameters()}
        self.inner.zero_grad()
        tensors, gradients = zip(*continued, strict=True)
        torch.autograd.backward(tensors, gradients)
        found = {n: p for n, p in self.inner.named_parameters() if p.grad is not None}
        added = self._added([p.grad for p in found.values() if p.grad is not None], self._samples)
        for (name, parameter), gradient in zip(found.items(), added, strict=True):
            before = direct[name]
            parameter.grad = gradient if before is None else gradient + before

    def clear_graph(self) -> None:
        """Release the last outputs and features."""
        self._own_outputs = self._outputs = torch.empty(0)
        self._features = None
        self.inner.clear_graph()

    def sum_over_ranks(self, tensors: list[torch.Tensor], samples: int) -> list[torch.Tensor]:
        """Return the sums of tensors over all processes."""
        return self._added(tensors, samples)

    def share(self, samples: int) -> slice:
        """Return this process's share of a batch."""
        return self._crew.share(samples)

    def _own(self, inputs: Any) -> torch.Tensor:
        if isinstance(inputs, OwnRows):
            return inputs.rows
        own: torch.Tensor = inputs[self._crew.share(len(inputs))]
        return own

    def _added(self, tensors: list[torch.Tensor], samples: int) -> list[torch.Tensor]:
        """Return sums over all samples; they travel in one piece."""
        flat = self._crew.add_up(torch.cat([tensor.flatten() for tensor in tensors]), samples)
        pieces = torch.split(flat, [tensor.numel() for tensor in tensors])
        return [piece.view(t.shape) for piece, t in zip(pieces, tensors, strict=True)]

    def teacher_copy(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Spread":
        """Return a copy with earlier weights, whose batches are shared out too."""
        return Spread(self.inner.teacher_copy(weights, classes), self._crew)
