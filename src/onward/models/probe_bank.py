"""Models that see the same batches, trained side by side."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

import torch

from onward.models.classifier import Classifier
from onward.models.model import Model


class Bank(Protocol):
    """Several models on one batch: the outputs of each, then the gradients of all.

    What one model or its loss can raise is raised by a call for that model alone: the others go on
    with the same batch.
    """

    def forward(self, inputs: Any) -> None:
        """Begin a step on this batch."""

    def outputs(self, place: int) -> Any:
        """Return the outputs of one model for the batch, with gradients enabled."""

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one model's loss, all of it or up to its outputs."""

    def finish_backward(self) -> None:
        """Complete the gradients of all models whose losses were given."""

    def release(self) -> None:
        """Let every model be on its own again."""


def side_by_side(models: Sequence[Model]) -> Bank:
    """Put models that see the same batches side by side, as closely as they allow."""
    probes: dict[Any, dict[int, Classifier]] = {}
    others: dict[int, Model] = {}
    for place, model in enumerate(models):
        # Also a probe that stands alone: in `OneByOne` it would learn other last bits.
        if isinstance(model, Classifier) and model.is_linear_probe and model.precision == "fp32":
            key = (model.head.in_features, model.device)
            probes.setdefault(key, {})[place] = model
        else:
            others[place] = model
    banks: list[tuple[Bank, Sequence[int]]] = [
        (ProbeBank([*alike.values()]), [*alike]) for alike in probes.values()
    ]
    if others:
        banks.append((OneByOne([*others.values()]), [*others]))
    return banks[0][0] if len(banks) == 1 else SeveralBanks(banks)


class SeveralBanks:
    """Banks on the same batch, such as one of linear probes and one of all other models.

    Parameters
    ----------
    banks
        Each with the places of its models among all of them.
    """

    def __init__(self, banks: Sequence[tuple[Bank, Sequence[int]]]) -> None:
        self._banks = [bank for bank, _ in banks]
        self._found = {
            place: (bank, number) for bank, places in banks for number, place in enumerate(places)
        }

    def forward(self, inputs: Any) -> None:
        """Begin a step on this batch."""
        for bank in self._banks:
            bank.forward(inputs)

    def outputs(self, place: int) -> Any:
        """Return the outputs of one model."""
        bank, number = self._found[place]
        return bank.outputs(number)

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one model's loss."""
        bank, number = self._found[place]
        bank.backward(number, loss)

    def finish_backward(self) -> None:
        """Complete the gradients of all models."""
        for bank in self._banks:
            bank.finish_backward()

    def release(self) -> None:
        """Let every model be on its own again."""
        for bank in self._banks:
            bank.release()


class OneByOne:
    """Models that share no more than the batch."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models

    def forward(self, inputs: Any) -> None:
        """Take the batch."""
        self._inputs = inputs

    def outputs(self, place: int) -> Any:
        """Return the outputs of one model."""
        model = self._models[place]
        if not model.training:
            model.train()
        model.zero_grad()
        with torch.enable_grad():
            return model(self._inputs)

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradients of one model."""
        loss.backward()  # type: ignore[no-untyped-call]
        self._models[place].continue_backward()

    def finish_backward(self) -> None:
        """Do nothing: each model has its gradients."""

    def release(self) -> None:
        """Do nothing: they have been on their own."""


class ProbeBank:
    """Linear probes as one wide linear layer: two matrix products a step for all of them together.

    The parameters of each probe are rows of the wide ones, and so are their gradients: what reads
    or changes those of one probe need not know.

    Every probe has a multiple of 16 rows, those behind its classes being zero. A product with other
    shapes may add in another order; with these, a probe learns the same, bit for bit, alone and
    beside any others. (Vector registers hold 8 or 16 numbers: 16 rows take no longer than 11.)
    """

    MULTIPLE = 16

    def __init__(self, probes: Sequence[Classifier]) -> None:
        self._probes = probes
        rooms = [-(-probe.classes // self.MULTIPLE) * self.MULTIPLE for probe in probes]
        ends = list(accumulate(rooms, initial=0))
        like = probes[0].head.weight.detach()
        self._weight = like.new_zeros(ends[-1], like.shape[1])
        self._bias = like.new_zeros(ends[-1])
        self._weight_grad = torch.zeros_like(self._weight)
        self._logits = self._logits_grad = like.new_empty(0, ends[-1])
        self._outputs: dict[int, torch.Tensor] = {}
        # Of the rows of each probe, those of its classes.
        self._rows = [
            slice(start, start + probe.classes)
            for probe, (start, _) in zip(probes, pairwise(ends), strict=True)
        ]
        for probe, rows in zip(probes, self._rows, strict=True):
            for parameter, wide in self._parameters(probe):
                wide[rows] = parameter.detach()
                parameter.data = wide[rows]

    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        self._inputs, size = inputs, len(inputs)
        for probe in self._probes:
            probe.features = inputs
            probe.zero_grad()
        if size > len(self._logits):
            self._logits = inputs.new_empty(size, len(self._bias))
            self._logits_grad = torch.zeros_like(self._logits)
        with torch.no_grad():
            torch.addmm(self._bias, inputs, self._weight.t(), out=self._logits[:size])
        self._outputs = {}

    def outputs(self, place: int) -> torch.Tensor:
        """Return the logits of one probe, a leaf of the graph."""
        logits = self._logits[: len(self._inputs), self._rows[place]]
        self._outputs[place] = logits.detach().requires_grad_()
        return self._outputs[place]

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one probe's logits, and of parameters its loss uses directly."""
        loss.backward()  # type: ignore[no-untyped-call]
        logits = self._outputs[place]
        gradient = torch.zeros_like(logits) if logits.grad is None else logits.grad
        self._logits_grad[: len(gradient), self._rows[place]] = gradient
        bias = self._probes[place].head.bias
        # By probe: a sum over all columns at once may add in another order.
        bias.grad = gradient.sum(0) if bias.grad is None else bias.grad + gradient.sum(0)

    def finish_backward(self) -> None:
        """Compute the gradients of all weights."""
        size = len(self._inputs)
        with torch.no_grad():
            torch.mm(self._logits_grad[:size].t(), self._inputs, out=self._weight_grad)
        for place in self._outputs:
            weight, gradient = self._probes[place].head.weight, self._weight_grad[self._rows[place]]
            weight.grad = gradient if weight.grad is None else weight.grad + gradient

    def release(self) -> None:
        """Give each probe parameters of its own."""
        for probe in self._probes:
            for parameter, _ in self._parameters(probe):
                parameter.data = parameter.detach().clone()
                parameter.grad = None

    def _parameters(self, probe: Classifier) -> list[tuple[torch.nn.Parameter, torch.Tensor]]:
        return [(probe.head.weight, self._weight), (probe.head.bias, self._bias)]
