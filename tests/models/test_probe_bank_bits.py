"""A run that is resumed after others have finished must end with the same weights."""

import itertools

import pytest
import torch

from onward.models.classifier import Classifier, linear_probe
from onward.models.probe_bank import ProbeBank, Slot
from onward.tasks.one_label import OneLabel

SHAPES = list(itertools.product([2, 7], [2, 3, 9, 11, 16, 100], [2, 5, 272, 2048], [1, 3, 10, 256]))
Step = tuple[torch.Tensor, list[torch.Tensor]]


def _step(
    probes: list[Classifier], slots: list[Slot], inputs: torch.Tensor, *, at_once: bool
) -> list[Step]:
    """Return the outputs of every probe and the gradients of its parameters, after one step."""
    bank, outputs = ProbeBank(probes, slots), []
    targets = torch.arange(len(inputs)) % probes[0].classes
    bank.forward(inputs)
    if at_once:
        bank.backward_of_heads(OneLabel(), targets)
    for number in range(len(probes)):
        found = bank.outputs(number)
        outputs.append(found.detach().clone())
        if not at_once:
            bank.backward(number, OneLabel().loss(found, targets))
    bank.finish_backward()
    gradients = [
        [p.grad.clone() for p in each.parameters() if p.grad is not None] for each in probes
    ]
    bank.release()
    return list(zip(outputs, gradients, strict=True))


@pytest.mark.parametrize(("heads", "classes", "width", "batch"), SHAPES)
def test_a_probe_learns_the_same_bits_in_its_slot_without_the_others(
    heads: int, classes: int, width: int, batch: int
) -> None:
    generators = (torch.Generator().manual_seed(number) for number in range(heads))
    probes = [linear_probe((width,), classes, generator) for generator in generators]
    slots = [Slot(place, heads) for place in range(heads)]
    inputs = torch.randn(batch, width, generator=torch.Generator().manual_seed(99))
    for at_once in (False, True):
        together = _step(probes, slots, inputs, at_once=at_once)
        for probe, slot, (outputs, gradients) in zip(probes, slots, together, strict=True):
            [(other_outputs, others)] = _step([probe], [slot], inputs, at_once=at_once)
            assert torch.equal(outputs, other_outputs)
            assert len(gradients) == len(others) == 2
            for gradient, other in zip(gradients, others, strict=True):
                assert torch.equal(gradient, other)
