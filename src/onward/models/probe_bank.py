"""Linear probes that see the same batches, trained as one wide linear layer."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import torch

from onward.models.classifier import Classifier
from onward.models.model import Model


@runtime_checkable
class LossesOfHeads(Protocol):
    """A task that can compute the losses of several models in one call."""

    def losses_of_heads(
        self, outputs: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss of each head and its gradient, given outputs (head, class, sample)."""


@dataclass(frozen=True)
class Slot:
    """Where a linear probe is in a `ProbeBank`, and how many probes the bank has room for.

    Matrix products of other sizes round in another way. So a run that is resumed after others have
    finished trains in the same slot of a bank of the same size, and ends with the same weights.
    """

    place: int = 0
    slots: int = 1


def bank_key(model: Model) -> Hashable:
    """Return what probes of one `ProbeBank` have in common; None for other models."""
    if is_linear_probe(model) and model.precision == "fp32":
        head = cast("Classifier", model).head
        return head.in_features, model.classes, model.device
    return None


def is_linear_probe(model: Model) -> bool:
    """Whether a model is a linear layer on features."""
    return isinstance(model, Classifier) and model.is_linear_probe


class ProbeBank:
    """Linear probes as one wide linear layer: two matrix products a step for all of them together.

    The parameters and gradients of each probe are views of the wide ones. Logits have a column per
    sample, so that those of each probe are contiguous.

    Parameters
    ----------
    models
        Linear probes with one `bank_key`.
    slots
        The slot of each of them, in a bank of one size; by default one after the other. Slots
        without a probe hold zeros.

    Attributes
    ----------
    wide
        Weights (slot, class, feature) and biases (slot, class), each with its gradient.
    """

    def __init__(self, models: Sequence[Model], slots: Sequence[Slot] | None = None) -> None:
        probes = [cast("Classifier", model) for model in models]
        if slots is None:
            slots = [Slot(place, len(models)) for place in range(len(models))]
        self._probes, self.slots = probes, slots
        like = probes[0].head.weight.detach()
        weight = like.new_zeros(slots[0].slots, *like.shape)
        bias = like.new_zeros(weight.shape[:2])
        self.wide = {
            "weight": (weight, torch.zeros_like(weight)),
            "bias": (bias, torch.zeros_like(bias)),
        }
        self._grads = {
            (name, slot.place): grad[slot.place]
            for name, (_, grad) in self.wide.items()
            for slot in slots
        }
        # By batch size: where logits (slot, class, sample) are written to.
        self._buffers: dict[int, torch.Tensor] = {}
        for probe, slot in zip(probes, slots, strict=True):
            for name, (wide, _) in self.wide.items():
                parameter = getattr(probe.head, name)
                wide[slot.place] = parameter.detach()
                parameter.data = wide[slot.place]
            self._give_grads(probe, slot)

    @torch.no_grad()
    def forward(self, inputs: torch.Tensor) -> None:
        """Compute the logits of all probes."""
        (weight, _), (bias, _) = self.wide.values()
        self._inputs, size = inputs, len(inputs)
        if size not in self._buffers:
            self._buffers[size] = weight.new_empty(*bias.shape, size)
        self._logits = self._buffers[size]
        flat = self._logits.flatten(0, 1)
        torch.addmm(bias.view(-1, 1), weight.flatten(0, 1), inputs.t(), out=flat)
        self._logits_grad: torch.Tensor | None = None
        self._outputs: dict[int, torch.Tensor] = {}
        # The gradients of losses of the parameters themselves.
        self._direct: dict[int, dict[str, torch.Tensor | None]] = {}

    def outputs(self, number: int) -> torch.Tensor:
        """Return the logits of one probe, a leaf of the graph."""
        if number not in self._outputs:
            probe, slot = self._probes[number], self.slots[number]
            probe.features = self._inputs
            self._give_grads(probe, slot)  # a method may have replaced those of the step before
            # A copy, as the buffer of logits is written to again in the next step.
            self._outputs[number] = self._logits[slot.place].clone().t().requires_grad_()
        return self._outputs[number]

    @torch.no_grad()
    def backward_of_heads(
        self, task: LossesOfHeads, targets: torch.Tensor
    ) -> Sequence[torch.Tensor]:
        """Compute the losses of all probes in one call, and the gradients of their logits."""
        losses, self._logits_grad = task.losses_of_heads(self._logits, targets)
        return [losses[slot.place] for slot in self.slots]

    def backward(self, number: int, loss: torch.Tensor) -> None:
        """Compute the gradient of one probe's logits, and of parameters its loss uses directly."""
        probe, slot = self._probes[number], self.slots[number]
        probe.head.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        found = self._outputs[number].grad
        self._grads_of_logits()[slot.place] = 0.0 if found is None else found.t()
        self._direct[number] = {name: getattr(probe.head, name).grad for name in self.wide}
        self._give_grads(probe, slot)

    @torch.no_grad()
    def finish_backward(self) -> None:
        """Compute the gradients of all weights and biases."""
        (_, weight_grad), (_, bias_grad) = self.wide.values()
        grads = self._grads_of_logits()
        torch.mm(grads.flatten(0, 1), self._inputs, out=weight_grad.flatten(0, 1))
        torch.sum(grads, 2, out=bias_grad)
        for number, direct in self._direct.items():
            for name, grad in direct.items():
                if grad is not None:
                    self.wide[name][1][self.slots[number].place] += grad

    @torch.no_grad()
    def take_grads(self, numbers: Iterable[int]) -> list[tuple[str, int]]:
        """Copy gradients that methods have replaced; return the names and places without one.

        `numbers` are those of the probes whose methods may have done so.
        """
        without = []
        for number in numbers:
            probe, slot = self._probes[number], self.slots[number]
            for name, (_, wide_grad) in self.wide.items():
                grad = getattr(probe.head, name).grad
                if grad is None:
                    without.append((name, slot.place))
                elif grad is not self._grads[name, slot.place]:
                    wide_grad[slot.place] = grad
        return without

    def release(self) -> None:
        """Give each probe parameters of its own."""
        for probe in self._probes:
            for name in self.wide:
                parameter = getattr(probe.head, name)
                parameter.data = parameter.detach().clone()
                parameter.grad = None

    def _grads_of_logits(self) -> torch.Tensor:
        if self._logits_grad is None:
            self._logits_grad = torch.zeros_like(self._logits)
        return self._logits_grad

    def _give_grads(self, probe: Classifier, slot: Slot) -> None:
        for name in self.wide:
            getattr(probe.head, name).grad = self._grads[name, slot.place]
