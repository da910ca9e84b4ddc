"""A model whose batches are shared out among the processes of a crew."""

from dataclasses import dataclass
from typing import Any

import torch

from onward.crew import Crew
from onward.errors import OnwardError
from onward.models.model import Model
from onward.models.wrapped import Wrapped


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The inputs of this process's share of a batch, where nobody here has read the others.

    It stands where a batch's inputs do, for a model that takes no more than its share of them.
    """

    rows: torch.Tensor
    samples: int

    def __len__(self) -> int:
        return self.samples


class Spread(Wrapped):
    """Works on this process's share of a batch, and has the outputs and gradients of all of it.

    Everybody computes the slope of the whole batch from all outputs, goes back with the rows of the
    own share, and the gradients are added up: what is learned is what one process would learn, also
    where a loss compares every sample with every other one, and no mean over processes is taken.

    Parameters
    ----------
    inner
        A model that makes the same of a sample, whoever stands beside it.
    crew
        The processes.
    """

    def __init__(self, inner: Model, crew: Crew) -> None:
        if inner.mixes:
            raise OnwardError(
                "expected a model whose samples do not depend on each other to share batches out "
                "among processes, found one with batch normalisation or with boxes. Run it in one "
                "process, or choose another model"
            )
        super().__init__(inner)
        self._crew = crew
        self._samples = 0

    @property
    def features(self) -> torch.Tensor:
        """What the head was given in the last `forward`, of all samples."""
        return self._crew.gather(self.inner.features, self._samples)

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs of all samples."""
        return self._crew.gather(self.inner.predict(self._own(inputs)), len(inputs))

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features of all samples."""
        return self._crew.gather(self.inner.embed(self._own(inputs)), len(inputs))

    def forward(self, inputs: Any) -> torch.Tensor:
        """Return the outputs of all samples, and remember those of the own share."""
        self._samples = len(inputs)
        return self._crew.gather(self.inner.forward(self._own(inputs)), self._samples)

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the whole batch on all parameters."""
        share = self._crew.share(self._samples)
        self.inner.backward(slope[share], None if feature_slope is None else feature_slope[share])
        found = [p for p in self.parameters.values() if p.grad is not None]
        added = self._added([p.grad for p in found if p.grad is not None], self._samples)
        for parameter, gradient in zip(found, added, strict=True):
            parameter.grad = gradient

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the squares of all samples."""
        squares = self.inner.squared_gradient(
            self._own(inputs), slopes[self._crew.share(len(slopes))]
        )
        return dict(zip(squares, self._added([*squares.values()], len(slopes)), strict=True))

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

    def _around(self, inner: Model) -> Any:
        return Spread(inner, self._crew)
