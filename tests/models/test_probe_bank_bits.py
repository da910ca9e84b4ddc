import itertools

import pytest
import torch

from onward.models.classifier import Classifier, linear_probe
from onward.models.probe_bank import ProbeBank

SHAPES = list(itertools.product([2, 7], [2, 3, 9, 11, 16, 100], [2, 5, 272, 2048], [1, 3, 10, 256]))


def _step(
    probes: list[Classifier], inputs: torch.Tensor
) -> list[tuple[torch.Tensor, list[torch.Tensor]]]:
    """Return the outputs of every probe and the gradients of its parameters, after one step."""
    bank, outputs = ProbeBank(probes), []
    bank.forward(inputs)
    for place, probe in enumerate(probes):
        found = bank.outputs(place)
        outputs.append(found.detach().clone())
        gradient = outputs[-1].softmax(1) - 1 / probe.classes
        bank.backward(place, (found * gradient).sum())
    bank.finish_backward()
    gradients = [
        [p.grad.clone() for p in each.parameters() if p.grad is not None] for each in probes
    ]
    bank.release()
    return list(zip(outputs, gradients, strict=True))


@pytest.mark.parametrize(("heads", "classes", "width", "batch"), SHAPES)
def test_a_probe_learns_the_same_bits_alone_and_in_a_bank(
    heads: int, classes: int, width: int, batch: int
) -> None:
    """Or a run that catches up alone after a kill would end with other scores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    generators = (torch.Generator().manual_seed(number) for number in range(heads))
    probes = [linear_probe((width,), classes, generator) for generator in generators]
    inputs = torch.randn(batch, width, generator=torch.Generator().manual_seed(99))
    alone = [_step([probe], inputs)[0] for probe in probes]
    together = _step(probes, inputs)
    torch.set_num_threads(before)
    for (outputs, gradients), (others, other_gradients) in zip(alone, together, strict=True):
        assert torch.equal(outputs, others)
        assert len(gradients) == len(other_gradients) == 2
        for gradient, other in zip(gradients, other_gradients, strict=True):
            assert torch.equal(gradient, other)
