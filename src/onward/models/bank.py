"""Models that see the same batches, side by side."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import torch

from onward.models.linear import LinearProbe
from onward.models.model import Model


class Bank(Protocol):
    """Several models on one batch: the outputs of each, its loss, then the gradients of all.

    Whatever one model or its loss can raise is raised by a call for that model alone: the others go
    on with the same batch.
    """

    def forward(self, inputs: torch.Tensor) -> None:
        """Begin a step of training on this batch."""

    def outputs(self, place: int) -> torch.Tensor:
        """Return the outputs of one model for the batch."""

    def backward(
        self, place: int, slope: torch.Tensor, feature_slope: torch.Tensor | None = None
    ) -> None:
        """Take the gradient of one model's loss with respect to its outputs and features."""

    def gradients(self) -> None:
        """Set the gradients of the models whose losses were taken."""

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

    def forward(self, inputs: torch.Tensor) -> None:
        """Take the batch."""
        self._inputs = inputs

    def outputs(self, place: int) -> torch.Tensor:
        """Return the outputs of one model."""
        return self._models[place].forward(self._inputs)

    def backward(
        self, place: int, slope: torch.Tensor, feature_slope: torch.Tensor | None = None
    ) -> None:
        """Turn the gradient of one model's outputs into that of its parameters."""
        self._models[place].backward(slope, feature_slope)

    def gradients(self) -> None:
        """Do nothing: each model has its gradient."""

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

    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        self._inputs = inputs
        for probe in self._probes:
            probe.seen = inputs
        if len(inputs) > len(self._logits):
            self._logits = torch.empty(len(inputs), len(self._bias))
            self._slope = torch.zeros_like(self._logits)
        torch.addmm(self._bias, inputs, self._weight.t(), out=self._logits[: len(inputs)])

    def outputs(self, place: int) -> torch.Tensor:
        """Return the logits of one probe."""
        return self._logits[: len(self._inputs), self._rows[place]]

    def backward(
        self, place: int, slope: torch.Tensor, feature_slope: torch.Tensor | None = None
    ) -> None:
        """Take the gradient of one probe's outputs; nothing lies below its features."""
        rows = self._rows[place]
        self._slope[: len(self._inputs), rows] = slope
        parameters = self._probes[place].parameters
        parameters["weight"].grad = self._gradient[rows]
        # Not one sum over all columns: that adds in another order, and a probe is to learn the
        # same, bit for bit, whoever stands beside it.
        parameters["bias"].grad = slope.sum(0)

    def gradients(self) -> None:
        """Set the gradients of all weights."""
        torch.mm(self._slope[: len(self._inputs)].t(), self._inputs, out=self._gradient)

    def release(self) -> None:
        """Give each probe rows of its own."""
        for probe in self._probes:
            probe.move()
