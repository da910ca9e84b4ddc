import pytest
import torch

from onward.models.bank import OneByOne, WideProbes, side_by_side
from onward.models.linear import LinearProbe


def _probes(*classes: int, width: int = 7) -> list[LinearProbe]:
    return [
        LinearProbe((width,), number, torch.Generator().manual_seed(seed))
        for seed, number in enumerate(classes)
    ]


def test_probes_side_by_side_are_what_they_are_alone() -> None:
    wide, alone = _probes(3, 5, 17), _probes(3, 5, 17)
    bank = side_by_side(wide)
    assert isinstance(bank, WideProbes)
    for size in (4, 9, 2):
        inputs = torch.randn(size, 7)
        slopes = [torch.randn(size, probe.classes) for probe in alone]
        bank.forward(inputs)
        for place, (probe, slope) in enumerate(zip(alone, slopes, strict=True)):
            torch.testing.assert_close(bank.outputs(place), probe.forward(inputs))
            bank.backward(place, slope)
        bank.gradients()
        for mine, other, slope in zip(wide, alone, slopes, strict=True):
            other.backward(slope)
            for name, parameter in other.parameters.items():
                torch.testing.assert_close(mine.parameters[name].grad, parameter.grad)
                parameter -= 0.1 * parameter.grad
                mine.parameters[name].sub_(mine.parameters[name].grad, alpha=0.1)


def test_a_probe_takes_its_weights_along_when_it_leaves() -> None:
    probes = _probes(3, 4)
    bank = side_by_side(probes)
    probes[0].parameters["weight"][1] = 5.0
    bank.release()
    inputs = torch.ones(1, 7)
    assert probes[0].predict(inputs)[0, 1] == pytest.approx(
        35.0 + float(probes[0].parameters["bias"][1])
    )
    before = probes[1].parameters["weight"].clone()
    probes[0].parameters["weight"].zero_()
    assert torch.equal(probes[1].parameters["weight"], before)
    probes[0].grow(6, torch.Generator())
    assert probes[0].predict(inputs).shape == (1, 6)


def test_a_gradient_that_was_replaced_does_not_stay() -> None:
    probes = _probes(2, 2)
    bank = side_by_side(probes)
    inputs = torch.randn(3, 7)
    for _ in range(2):
        bank.forward(inputs)
        for place in range(2):
            bank.backward(place, torch.ones(3, 2))
        bank.gradients()
        found = probes[0].parameters["bias"].grad
        assert found is not None
        assert found.tolist() == [3.0, 3.0]
        probes[0].parameters["bias"].grad = torch.full((2,), 9.0)


def test_models_of_different_widths_share_the_batch_only() -> None:
    assert isinstance(side_by_side(_probes(2) + _probes(2, width=5)), OneByOne)
    assert isinstance(side_by_side(_probes(2)), OneByOne)
