"""Models that see the same batches, trained side by side."""

import functools
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Protocol

import torch

from onward.models.classifier import Classifier
from onward.models.model import Model
from onward.types import Task


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

    def backward_task_losses(
        self, places: Sequence[int], task: Task, targets: torch.Tensor
    ) -> Sequence[torch.Tensor] | None:
        """Compute losses and gradients of several models whose loss is the task's, at once.

        Returns the losses, or None where these models have nothing to gain: each loss is then
        computed for itself.
        """

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

    def backward_task_losses(
        self, places: Sequence[int], task: Task, targets: torch.Tensor
    ) -> Sequence[torch.Tensor] | None:
        """Compute losses and gradients at once where all these models are in one bank."""
        banks = {id(self._found[place][0]) for place in places}
        if len(banks) > 1:
            return None
        bank = self._found[places[0]][0]
        return bank.backward_task_losses([self._found[p][1] for p in places], task, targets)

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

    def backward_task_losses(
        self, places: Sequence[int], task: Task, targets: torch.Tensor
    ) -> Sequence[torch.Tensor] | None:
        """Return None: each model has a loss of its own."""
        return None

    def finish_backward(self) -> None:
        """Do nothing: each model has its gradients."""

    def release(self) -> None:
        """Do nothing: they have been on their own."""


class ProbeBank:
    """Linear probes as one wide linear layer: two matrix products a step for all of them together.

    The parameters of each probe are rows of the wide ones, and so are their gradients: what reads
    or changes those of one probe need not know.

    A probe learns the same, bit for bit, alone and beside any others: a run that catches up alone
    after an interruption ends with the same scores. Alone it has a multiple of 16 rows, and those
    behind its classes are zero. Side by side, rows are dense where this machine's matrix products
    are found to give the same bits so; elsewhere every probe has a multiple of 16 rows, since
    products of other shapes may add in another order.
    """

    MULTIPLE = 16
    # Products of fewer features take other paths, and little time.
    FEWEST_DENSE_FEATURES = 64

    def __init__(self, probes: Sequence[Classifier]) -> None:
        self._probes = probes
        self._classes = tuple(probe.classes for probe in probes)
        self._outputs: dict[int, torch.Tensor] = {}
        self._verified: set[int] = set()
        self._logits = self._logits_grad = torch.empty(0)
        wide = probes[0].head.in_features >= self.FEWEST_DENSE_FEATURES
        self._lay_out(dense=wide and len(probes) > 1)

    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        self._inputs, size = inputs, len(inputs)
        if self._dense and size not in self._verified:
            self._verified.add(size)
            if not _same_bits(inputs.shape[1], size, self._classes, inputs.device):
                self._lay_out(dense=False)
        for probe in self._probes:
            probe.features = inputs
            probe.head.weight.grad = probe.head.bias.grad = None
        if size > len(self._logits):
            self._logits = inputs.new_empty(size, len(self._bias))
            self._logits_grad = torch.zeros_like(self._logits)
        with torch.no_grad():
            torch.addmm(self._bias, inputs, self._weight.t(), out=self._logits[:size])
        self._outputs = {}

    def outputs(self, place: int) -> torch.Tensor:
        """Return the logits of one probe, a leaf of the graph."""
        if place not in self._outputs:
            logits = self._logits[: len(self._inputs), self._rows[place]]
            self._outputs[place] = logits.detach().requires_grad_()
        return self._outputs[place]

    def backward(self, place: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one probe's logits, and of parameters its loss uses directly."""
        loss.backward()  # type: ignore[no-untyped-call]
        logits = self._outputs[place]
        gradient = torch.zeros_like(logits) if logits.grad is None else logits.grad
        self._logits_grad[: len(gradient), self._rows[place]] = gradient

    def backward_task_losses(
        self, places: Sequence[int], task: Task, targets: torch.Tensor
    ) -> Sequence[torch.Tensor] | None:
        """Compute the task losses of several probes and the gradients of their logits at once."""
        classes, size = self._classes[places[0]], len(self._inputs)
        # A task may know how to compute the losses of outputs (sample, class, head) at once.
        shortcut = getattr(task, "losses_of_heads", None) if len(places) > 1 else None
        losses_of_heads = None if shortcut is None else shortcut(classes)
        if losses_of_heads is None or {self._classes[p] for p in places} != {classes}:
            return None
        columns = self._columns(tuple(places), classes)
        logits = self._logits[:size].index_select(1, columns).view(size, classes, len(places))
        if not _same_loss_bits(losses_of_heads, size, classes, len(places), logits.device):
            return None
        with torch.enable_grad():
            losses: torch.Tensor = losses_of_heads(logits.requires_grad_(), targets)
            losses.sum().backward()  # type: ignore[no-untyped-call]
        if logits.grad is not None:
            self._logits_grad[:size].index_copy_(1, columns, logits.grad.view(size, -1))
        return losses.detach().unbind()

    def finish_backward(self) -> None:
        """Compute the gradients of all weights and biases."""
        gradient = self._logits_grad[: len(self._inputs)]
        with torch.no_grad():
            torch.mm(gradient.t(), self._inputs, out=self._weight_grad)
            self._bias_grad = _column_sums(gradient)
        for probe, rows in zip(self._probes, self._rows, strict=True):
            for parameter, wide in (
                (probe.head.weight, self._weight_grad),
                (probe.head.bias, self._bias_grad),
            ):
                # A gradient that is there already is that of a loss of the parameters themselves.
                found = wide[rows]
                parameter.grad = found if parameter.grad is None else parameter.grad + found

    def release(self) -> None:
        """Give each probe parameters of its own."""
        for probe in self._probes:
            for parameter in (probe.head.weight, probe.head.bias):
                parameter.data = parameter.detach().clone()
                parameter.grad = None

    def _lay_out(self, *, dense: bool) -> None:
        """Copy the parameters of all probes into the wide ones."""
        self._dense = dense
        ends = [0, *accumulate(_rooms(self._classes, self.MULTIPLE, dense=dense))]
        like = self._probes[0].head.weight.detach()
        self._weight = like.new_zeros(max(ends[-1], self.MULTIPLE), like.shape[1])
        self._bias = like.new_zeros(len(self._weight))
        self._weight_grad = torch.zeros_like(self._weight)
        self._logits = self._logits_grad = like.new_empty(0, len(self._weight))
        # Of the rows of each probe, those of its classes.
        self._rows = [
            slice(start, start + classes)
            for classes, start in zip(self._classes, ends[:-1], strict=True)
        ]
        self._columns_of: dict[tuple[int, ...], torch.Tensor] = {}
        for probe, rows in zip(self._probes, self._rows, strict=True):
            for parameter, wide in (
                (probe.head.weight, self._weight),
                (probe.head.bias, self._bias),
            ):
                wide[rows] = parameter.detach()
                parameter.data = wide[rows]

    def _columns(self, places: tuple[int, ...], classes: int) -> torch.Tensor:
        """Return the columns of the logits of some probes, class by class."""
        if places not in self._columns_of:
            starts = torch.tensor([self._rows[place].start for place in places])
            columns = (torch.arange(classes)[:, None] + starts).flatten()
            self._columns_of[places] = columns.to(self._weight.device)
        return self._columns_of[places]


def _rooms(classes: Sequence[int], multiple: int, *, dense: bool) -> list[int]:
    """Return how many rows each probe has."""
    return [each if dense else -(-each // multiple) * multiple for each in classes]


@functools.cache
def _same_bits(width: int, size: int, classes: tuple[int, ...], device: torch.device) -> bool:
    """Whether a step on dense rows gives the bits that each probe's own rows give here.

    It depends on shapes alone: which numbers are added up in which order is not a matter of what
    they are.
    """
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device)

    inputs, least = drawn(size, width), ProbeBank.MULTIPLE
    weight, bias, gradient = (drawn(n, *more) for n, more in _shapes(classes, width, size, least))
    with torch.no_grad():
        wide = _step_of(weight, bias, gradient.t().contiguous(), inputs)
        start = 0
        for count in classes:
            room = -(-count // least) * least
            parts = []
            for values in (weight, bias, gradient):
                part = values.new_zeros(room, *values.shape[1:])
                part[:count] = values[start : start + count]
                parts.append(part)
            alone = _step_of(parts[0], parts[1], parts[2].t().contiguous(), inputs)
            for of_all, own, dim in zip(wide, alone, (1, 0, 0), strict=True):
                mine = of_all.narrow(dim, start, count)
                if not torch.equal(mine, own.narrow(dim, 0, count)):
                    return False
            start += count
    return True


def _shapes(
    classes: Sequence[int], width: int, size: int, least: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return rows and further axes of the weights, the biases and the gradients of logits."""
    rows = max(sum(classes), least)
    return [(rows, (width,)), (rows, ()), (rows, (size,))]


def _step_of(
    weight: torch.Tensor, bias: torch.Tensor, gradient: torch.Tensor, inputs: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return logits and the gradients of weights and biases."""
    return torch.addmm(bias, inputs, weight.t()), gradient.t() @ inputs, _column_sums(gradient)


def _column_sums(gradient: torch.Tensor) -> torch.Tensor:
    """Return the sums of columns by a matrix product, whose bits do not depend on other columns."""
    sums = gradient.t() @ gradient.new_ones(len(gradient), ProbeBank.MULTIPLE)
    return sums[:, 0].contiguous()


@functools.cache
def _same_loss_bits(
    losses_of_heads: Callable[..., torch.Tensor],
    size: int,
    classes: int,
    heads: int,
    device: torch.device,
) -> bool:
    """Whether losses of several heads at once have the gradients of one head at a time here."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn((size, classes, heads), generator=generator).to(device)
    targets = torch.zeros(size, dtype=torch.int64, device=device)

    def gradient(of: torch.Tensor) -> torch.Tensor:
        leaf = of.clone().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(losses_of_heads(leaf, targets).sum(), leaf)[0]

    together = gradient(logits)
    return all(
        torch.equal(
            gradient(logits[..., head : head + 1].contiguous())[..., 0], together[..., head]
        )
        for head in range(heads)
    )
