"""Models that see the same batches, trained side by side."""

import functools
from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol, runtime_checkable

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


@runtime_checkable
class LossesOfHeads(Protocol):
    """A task that can compute the losses of several models at once."""

    def losses_of_heads(self, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss of each head, given outputs (head, class, sample)."""


def bank_key(model: Model) -> Hashable:
    """Return what models that share more than the batch have in common; None for other models."""
    if isinstance(model, Classifier) and model.is_linear_probe and model.precision == "fp32":
        return model.head.in_features, model.device
    return None


def side_by_side(models: Sequence[Model]) -> Bank:
    """Put models with one `bank_key` side by side."""
    if bank_key(models[0]) is None:
        return OneByOne(models)
    # Also a probe that stands alone: in `OneByOne` it would learn other last bits.
    return ProbeBank([model for model in models if isinstance(model, Classifier)])


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
    or changes those of one probe need not know. Logits have a row per class and a column per
    sample, so that each probe's lie in one piece.

    A probe learns the same, bit for bit, alone and beside any others: a run that catches up alone
    after an interruption ends with the same scores. Where this machine's matrix products of all
    rows are found to give other bits than those of each probe's, each has products of its own.
    """

    def __init__(self, probes: Sequence[Classifier]) -> None:
        self._probes = probes
        self._parameters = [(probe.head.weight, probe.head.bias) for probe in probes]
        like = probes[0].head.weight.detach()
        ends = tuple(accumulate(_rooms([probe.classes for probe in probes], like.shape[1])))
        self._ends = ends
        self._rows = [
            slice(piece.start, piece.start + probe.classes)
            for piece, probe in zip(_pieces(ends), probes, strict=True)
        ]
        self._rows_at: dict[tuple[int, ...], slice | torch.Tensor] = {}
        self._weight = like.new_zeros(ends[-1], like.shape[1])
        self._bias = like.new_zeros(ends[-1], 1)
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
            whole = _same_bits(self._weight.shape[1], size, self._ends, inputs.device)
            self._layers[size] = _WideLayer(*wide, size, self._ends[-1:] if whole else self._ends)
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

    def backward_at_once(
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
def _same_bits(width: int, size: int, ends: tuple[int, ...], device: torch.device) -> bool:
    """Whether the products of all rows give the bits of those of each block's rows here.

    It depends on shapes alone: which numbers are added up in which order is not a matter of what
    they are.
    """
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device)

    if len(ends) == 1:
        return True
    shapes = (ends[-1], width), (ends[-1], 1), (ends[-1], size), (size, width)
    weight, bias, gradient, inputs = (drawn(*shape) for shape in shapes)
    found = []
    for chosen in (ends[-1:], ends):
        grads = torch.zeros_like(weight), torch.zeros_like(bias)
        layer = _WideLayer(weight, bias, *grads, size, chosen)
        layer.forward(inputs)
        layer.logits_grad.copy_(gradient)
        layer.backward(inputs)
        found.append((layer.logits, *grads))
    return all(torch.equal(*pair) for pair in zip(*found, strict=True))
