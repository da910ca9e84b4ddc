"""Models that see the same batches, side by side."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import torch

from onward.models.linear import LinearProbe
from onward.models.model import Model
from onward.types import Loss


class Bank(Protocol):
    """Several models on one batch: the outputs of all, then the gradients of all."""

    def forward(self, inputs: torch.Tensor) -> Sequence[torch.Tensor]:
        """Return the outputs of each model for a step of training."""

    def backward(self, losses: Sequence[Loss]) -> None:
        """Turn one loss per model into gradients."""

    def release(self) -> None:
        """Let every model go its own way."""


def side_by_side(models: Sequence[Model]) -> Bank:
    """Put models that see the same batches side by side, as closely as they allow."""
    probes = [model for model in models if isinstance(model, LinearProbe)]
    if len(probes) == len(models) > 1 and len({probe.width for probe in probes}) == 1:
        return WideProbes(probes)
    return OneByOne(models)


class OneByOne:
    """Models that share no more than the batch."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models

    def forward(self, inputs: torch.Tensor) -> Sequence[torch.Tensor]:
        """Return the outputs of each model."""
        return [model.forward(inputs) for model in self._models]

    def backward(self, losses: Sequence[Loss]) -> None:
        """Turn each slope into a gradient."""
        for model, loss in zip(self._models, losses, strict=True):
            model.backward(loss.slope, loss.feature_slope)

    def release(self) -> None:
        """Do nothing: they have been on their own."""


class WideProbes:
    """Linear probes as one wide matrix: two products a step for all of them together.

    Each probe's weights and gradients are rows of it, so that whoever reads or changes those of one
    probe need not know.
    """

    def __init__(self, probes: Sequence[LinearProbe]) -> None:
        self._probes = probes
        ends = list(accumulate((probe.room for probe in probes), initial=0))
        every, width = ends[-1], probes[0].width
        self._weight, self._bias = torch.zeros(every, width), torch.zeros(every)
        self._gradient = torch.zeros(every, width)
        self._logits = self._slope = torch.empty(0, every)
        for probe, (start, end) in zip(probes, pairwise(ends), strict=True):
            probe.move(self._weight[start:end], self._bias[start:end])
        # Of the rows of each probe, those of its classes; the others fill its room.
        self._rows = [
            slice(start, start + probe.classes)
            for probe, start in zip(probes, ends[:-1], strict=True)
        ]

    def forward(self, inputs: torch.Tensor) -> Sequence[torch.Tensor]:
        """Return the logits of each probe."""
        self._inputs = inputs
        for probe in self._probes:
            probe.seen = inputs
        if len(inputs) > len(self._logits):
            self._logits = torch.empty(len(inputs), len(self._bias))
            self._slope = torch.zeros_like(self._logits)
        logits = torch.addmm(self._bias, inputs, self._weight.t(), out=self._logits[: len(inputs)])
        return [logits[:, rows] for rows in self._rows]

    def backward(self, losses: Sequence[Loss]) -> None:
        """Set the gradients of all probes; nothing lies below their features."""
        slopes: list[torch.Tensor] = [loss.slope for loss in losses]
        together = self._slope[: len(self._inputs)]
        for rows, slope in zip(self._rows, slopes, strict=True):
            together[:, rows] = slope
        torch.mm(together.t(), self._inputs, out=self._gradient)
        for probe, rows, slope in zip(self._probes, self._rows, slopes, strict=True):
            probe.parameters["weight"].grad = self._gradient[rows]
            # Not one sum over all columns: that adds in another order, and a probe is to learn the
            # same, bit for bit, whoever stands beside it.
            probe.parameters["bias"].grad = slope.sum(0)

    def release(self) -> None:
        """Give each probe rows of its own."""
        for probe in self._probes:
            probe.move()
