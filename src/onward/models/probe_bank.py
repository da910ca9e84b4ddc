"""Linear probes that see the same batches, trained as one wide linear layer."""

import functools
from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise
from typing import Protocol, cast, runtime_checkable

import torch

from onward.models.classifier import Classifier
from onward.models.model import Model


@runtime_checkable
class LossesOfHeads(Protocol):
    """A task that can compute the losses of several models in one call."""

    def losses_of_heads(self, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss of each head, given outputs (head, class, sample)."""


def bank_key(model: Model) -> Hashable:
    """Return what probes of one `ProbeBank` have in common; None for other models."""
    if isinstance(model, Classifier) and model.is_linear_probe and model.precision == "fp32":
        return model.head.in_features, model.device
    return None


class ProbeBank:
    """Linear probes as one wide linear layer: two matrix products a step for all of them together.

    The parameters and gradients of each probe are rows of the wide ones. Logits have a row per
    class and a column per sample, so that those of each probe are contiguous.

    A probe learns the same, bit for bit, alone and beside any others: a run that catches up alone
    after an interruption ends with the same scores. Products of a multiple of 16 rows have that
    property on the processors that were tried. Where they are found not to have it, each probe has
    products of its own.

    Parameters
    ----------
    models
        Linear probes with one `bank_key`.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._probes = probes = [cast("Classifier", model) for model in models]
        self._parameters = [(probe.head.weight, probe.head.bias) for probe in probes]
        like = probes[0].head.weight.detach()
        self._ends = tuple(accumulate(probe.classes for probe in probes))
        self._rows = _parts(self._ends)
        self._rows_at: dict[tuple[int, ...], slice | torch.Tensor] = {}
        every = _multiple(self._ends[-1])
        self._weight, self._bias = like.new_zeros(every, like.shape[1]), like.new_zeros(every, 1)
        self._weight_grad = torch.zeros_like(self._weight)
        self._bias_grad = torch.zeros_like(self._bias)
        self._grads = [(self._weight_grad[rows], self._bias_grad[rows, 0]) for rows in self._rows]
        # By batch size: logits and their gradients (row, sample).
        self._buffers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        for (weight, bias), rows in zip(self._parameters, self._rows, strict=True):
            for parameter, wide in ((weight, self._weight), (bias, self._bias[:, 0])):
                wide[rows] = parameter.detach()
                parameter.data = wide[rows]
        for place in range(len(probes)):
            self._give_grads(place)

    @torch.no_grad()
    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        self._inputs, size = inputs, len(inputs)
        if size not in self._buffers:
            shape = len(self._weight), _multiple(size)
            logits, logits_grad = (self._weight.new_zeros(shape)[:, :size] for _ in range(2))
            self._buffers[size] = logits, logits_grad
        self._logits, self._logits_grad = self._buffers[size]
        dense = _same_bits(self._ends, self._weight.shape[1], size, inputs.device)
        self._products = _dense_products if dense else _products_of_each
        self._products(self._ends, self._weight, inputs.t(), self._logits)
        self._logits += self._bias
        self._outputs: dict[int, torch.Tensor] = {}
        # The gradients of losses of the parameters themselves.
        self._direct: dict[int, list[torch.Tensor | None]] = {}

    def outputs(self, place: int) -> torch.Tensor:
        """Return the logits of one probe, a leaf of the graph."""
        if place not in self._outputs:
            self._probes[place].features = self._inputs
            self._give_grads(place)  # a method may have replaced those of the step before
            logits = self._logits[self._rows[place]].t()
            self._outputs[place] = logits.detach().requires_grad_()
        return self._outputs[place]

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one probe's logits, and of parameters its loss uses directly."""
        for parameter in self._parameters[place]:
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        found = self._outputs[place].grad
        self._logits_grad[self._rows[place]] = 0.0 if found is None else found.t()
        self._direct[place] = [parameter.grad for parameter in self._parameters[place]]
        self._give_grads(place)

    def backward_of_heads(
        self,
        places: tuple[int, ...],
        task: "LossesOfHeads",
        targets: torch.Tensor,
    ) -> Sequence[torch.Tensor]:
        """Compute the losses of probes with equally many classes, and the gradients of logits."""
        rows = self._rows_of(places)
        logits = self._logits[rows].view(len(places), -1, len(targets)).requires_grad_()
        with torch.enable_grad():
            losses = task.losses_of_heads(logits, targets)
        (found,) = torch.autograd.grad(losses, logits, torch.ones_like(losses))
        self._logits_grad[rows] = found.reshape(-1, len(targets))
        return losses.detach().unbind()

    @torch.no_grad()
    def finish_backward(self) -> None:
        """Compute the gradients of all weights and biases."""
        self._products(self._ends, self._logits_grad, self._inputs, self._weight_grad)
        torch.sum(self._logits_grad, 1, keepdim=True, out=self._bias_grad)
        for place, more in self._direct.items():
            for grad, direct in zip(self._grads[place], more, strict=True):
                if direct is not None:
                    grad += direct

    def _give_grads(self, place: int) -> None:
        for parameter, grad in zip(self._parameters[place], self._grads[place], strict=True):
            parameter.grad = grad

    def _rows_of(self, places: tuple[int, ...]) -> slice | torch.Tensor:
        """Return the rows of several probes: one slice where they lie in one piece."""
        if places not in self._rows_at:
            parts = [self._rows[place] for place in places]
            whole = slice(parts[0].start, parts[-1].stop)
            if all(one.stop == other.start for one, other in pairwise(parts)):
                self._rows_at[places] = whole
            else:
                numbers = torch.cat([torch.arange(part.start, part.stop) for part in parts])
                self._rows_at[places] = numbers.to(self._weight.device)
        return self._rows_at[places]

    def release(self) -> None:
        """Give each probe parameters of its own."""
        for parameters in self._parameters:
            for parameter in parameters:
                parameter.data = parameter.detach().clone()
                parameter.grad = None


# Products of other numbers of rows take other paths, with other bits, for the last ones.
_ROWS = 16


def _multiple(count: int) -> int:
    return -(-count // _ROWS) * _ROWS


def _parts(ends: tuple[int, ...]) -> list[slice]:
    return [slice(start, end) for start, end in pairwise([0, *ends])]


def _dense_products(
    ends: tuple[int, ...], left: torch.Tensor, right: torch.Tensor, out: torch.Tensor
) -> None:
    """Multiply the rows of all probes by a matrix."""
    torch.mm(left, right, out=out)


def _products_of_each(
    ends: tuple[int, ...], left: torch.Tensor, right: torch.Tensor, out: torch.Tensor
) -> None:
    """Multiply the rows of each probe by a matrix, as if there were no others."""
    for part in _parts(ends):
        count = part.stop - part.start
        alone = left.new_zeros(_multiple(count), _multiple(left.shape[1]))[:, : left.shape[1]]
        alone[:count] = left[part]
        out[part] = torch.mm(alone, right)[:count]


@functools.cache
def _same_bits(ends: tuple[int, ...], width: int, size: int, device: torch.device) -> bool:
    """Return whether the products of all rows give the bits of those of each probe's rows here.

    It depends on shapes alone: values do not change the order in which they are added.
    """
    if len(ends) == 1:
        return True
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device)

    def cancelling(count: int, columns: int) -> torch.Tensor:
        half = drawn(count, -(-columns // 2))
        full = half.new_zeros(count, _multiple(columns))[:, :columns]
        return full.copy_(torch.cat([half, -half], 1)[:, :columns])

    # Sums in which large terms cancel: another order of additions gives other bits almost surely.
    count = _multiple(ends[-1])
    inputs = drawn(-(-size // 2), -(-width // 2)).repeat(2, 2)[:size, :width]
    inputs = inputs * (1 + drawn(size, width) / 1024)
    for left, right in ((cancelling(count, width), inputs.t()), (cancelling(count, size), inputs)):
        found = [left.new_zeros(count, right.shape[1]) for _ in range(2)]
        _dense_products(ends, left, right, found[0])
        _products_of_each(ends, left, right, found[1])
        if not torch.equal(*(products[: ends[-1]] for products in found)):
            return False
    return True
