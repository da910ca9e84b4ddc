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
    after an interruption ends with the same scores. Where this machine's matrix products of all
    rows are found to give other bits than those of each probe's rows, each has its own products.

    Parameters
    ----------
    models
        Linear probes with one `bank_key`.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._probes = probes = [cast("Classifier", model) for model in models]
        self._parameters = [(probe.head.weight, probe.head.bias) for probe in probes]
        like = probes[0].head.weight.detach()
        ends = tuple(accumulate(_rooms([probe.classes for probe in probes], like.shape[1])))
        self._ends = ends
        self._rows = [
            slice(piece.start, piece.start + probe.classes)
            for piece, probe in zip(_pieces(ends), probes, strict=True)
        ]
        self._rows_at: dict[tuple[int, ...], slice | torch.Tensor] = {}
        # Products of a multiple of 4 rows are faster: 12 % for 11 rows.
        every = -(-ends[-1] // 4) * 4
        self._weight, self._bias = like.new_zeros(every, like.shape[1]), like.new_zeros(every, 1)
        self._weight_grad = torch.zeros_like(self._weight)
        self._bias_grad = torch.zeros_like(self._bias)
        self._grads = [(self._weight_grad[rows], self._bias_grad[rows, 0]) for rows in self._rows]
        self._layers: dict[int, _WideLayer] = {}
        for (weight, bias), rows in zip(self._parameters, self._rows, strict=True):
            for parameter, wide in ((weight, self._weight), (bias, self._bias[:, 0])):
                wide[rows] = parameter.detach()
                parameter.data = wide[rows]
        for place in range(len(probes)):
            self._give_grads(place)

    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        self._inputs, size = inputs, len(inputs)
        if size not in self._layers:
            wide = (self._weight, self._bias, self._weight_grad, self._bias_grad)
            whole = len(self._weight), self._weight.shape[1], size
            same = _same_bits(*whole, self._ends, inputs.device)
            self._layers[size] = _WideLayer(*wide, size, whole[:1] if same else self._ends)
        self._layer = self._layers[size]
        self._layer.forward(inputs)
        self._outputs: dict[int, torch.Tensor] = {}
        # The gradients of losses of the parameters themselves.
        self._direct: dict[int, list[torch.Tensor | None]] = {}

    def outputs(self, place: int) -> torch.Tensor:
        """Return the logits of one probe, a leaf of the graph."""
        if place not in self._outputs:
            self._probes[place].features = self._inputs
            self._give_grads(place)  # a method may have replaced those of the step before
            logits = self._layer.logits[self._rows[place]].t()
            self._outputs[place] = logits.detach().requires_grad_()
        return self._outputs[place]

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one probe's logits, and of parameters its loss uses directly."""
        for parameter in self._parameters[place]:
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        found = self._outputs[place].grad
        self._layer.logits_grad[self._rows[place]] = 0.0 if found is None else found.t()
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
        logits = self._layer.logits[rows].view(len(places), -1, len(targets)).requires_grad_()
        with torch.enable_grad():
            losses = task.losses_of_heads(logits, targets)
        (found,) = torch.autograd.grad(losses, logits, torch.ones_like(losses))
        self._layer.logits_grad[rows] = found.reshape(-1, len(targets))
        return losses.detach().unbind()

    def finish_backward(self) -> None:
        """Compute the gradients of all weights and biases."""
        self._layer.backward(self._inputs)
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


class _WideLayer:
    """A linear layer for batches of one size: the products of all its rows, or piece by piece.

    Parameters
    ----------
    weight, bias, weight_grad, bias_grad
        Its parameters, those of biases as columns, and where their gradients go.
    size
        The number of samples.
    ends
        Where the pieces end.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor,
        weight_grad: torch.Tensor,
        bias_grad: torch.Tensor,
        size: int,
        ends: tuple[int, ...],
    ) -> None:
        self.logits, self.logits_grad = (
            weight.new_zeros(len(weight), _aligned(size))[:, :size] for _ in range(2)
        )
        tensors = weight, bias, weight_grad, bias_grad, self.logits, self.logits_grad
        self._parts = [[each[piece] for each in tensors] for piece in _pieces(ends)]

    @torch.no_grad()
    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits (row, sample)."""
        for weight, bias, _, _, logits, _ in self._parts:
            torch.addmm(bias, weight, inputs.t(), out=logits)

    @torch.no_grad()
    def backward(self, inputs: torch.Tensor) -> None:
        """Compute the gradients of weights and biases from those of the logits."""
        for _, _, weight_grad, bias_grad, _, logits_grad in self._parts:
            torch.mm(logits_grad, inputs, out=weight_grad)
            torch.sum(logits_grad, 1, keepdim=True, out=bias_grad)


# Products take other paths, with other bits, for few rows, and for pieces that begin between two
# cache lines: so many floats fill a line.
_FEWEST_ROWS = 8
_LINE = 16


def _aligned(count: int) -> int:
    return -(-count // _LINE) * _LINE


def _rooms(classes: Sequence[int], width: int) -> list[int]:
    """Return how many rows each probe takes; those behind its classes are zero."""
    return [_aligned(each) if width % _LINE else max(each, _FEWEST_ROWS) for each in classes]


def _pieces(ends: tuple[int, ...]) -> list[slice]:
    return [slice(start, end) for start, end in pairwise([0, *ends])]


@functools.cache
def _same_bits(
    rows: int, width: int, size: int, ends: tuple[int, ...], device: torch.device
) -> bool:
    """Return whether the products of all rows give the bits of those of each probe's rows here.

    It depends on shapes alone: values do not change the order in which they are added.
    """
    if ends == (rows,):
        return True
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device)

    def cancelling(count: int, columns: int) -> torch.Tensor:
        half = drawn(count, -(-columns // 2))
        return torch.cat([half, -half], 1)[:, :columns]

    # Sums in which large terms cancel: another order of additions gives other bits almost surely.
    weight, bias, gradient = cancelling(rows, width), drawn(rows, 1), cancelling(rows, size)
    inputs = drawn(-(-size // 2), -(-width // 2)).repeat(2, 2)[:size, :width]
    inputs = inputs * (1 + drawn(size, width) / 1024)
    found = []
    for chosen in ((rows,), ends):
        grads = torch.zeros_like(weight), torch.zeros_like(bias)
        layer = _WideLayer(weight, bias, *grads, size, chosen)
        layer.forward(inputs)
        layer.logits_grad.copy_(gradient)
        layer.backward(inputs)
        found.append((layer.logits, *grads))
    return all(
        torch.equal(one[: ends[-1]], other[: ends[-1]]) for one, other in zip(*found, strict=True)
    )
