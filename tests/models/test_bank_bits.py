import itertools

import pytest
import torch

from onward.models.bank import WideProbes
from onward.models.linear import LinearProbe

SHAPES = list(itertools.product([2, 7], [2, 3, 9, 11, 16, 100], [2, 5, 272, 2048], [1, 3, 10, 256]))


@pytest.mark.parametrize(("heads", "classes", "width", "batch"), SHAPES)
def test_a_probe_learns_the_same_bits_whoever_stands_beside_it(
    heads: int, classes: int, width: int, batch: int
) -> None:
    """Or a run that catches up alone after a kill would end with other scores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    generators = (torch.Generator().manual_seed(number) for number in range(heads))
    probes = [LinearProbe((width,), classes, generator) for generator in generators]
    inputs = torch.randn(batch, width, generator=torch.Generator().manual_seed(99))
    alone = [probe.forward(inputs).clone() for probe in probes]
    slopes = [outputs.softmax(1) - 1 / classes for outputs in alone]
    gradients = []
    for probe, slope in zip(probes, slopes, strict=True):
        probe.backward(slope)
        gradients.append([p.grad.clone() for p in probe.parameters.values() if p.grad is not None])
    bank = WideProbes(probes)
    bank.forward(inputs)
    together = [bank.outputs(place) for place in range(heads)]
    for place, slope in enumerate(slopes):
        bank.backward(place, slope)
    bank.gradients()
    torch.set_num_threads(before)
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(one, other)
    for expected, probe in zip(gradients, probes, strict=True):
        for gradient, parameter in zip(expected, probe.parameters.values(), strict=True):
            assert parameter.grad is not None
            assert torch.equal(gradient, parameter.grad)
