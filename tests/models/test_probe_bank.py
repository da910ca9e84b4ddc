import pytest
import torch
from small_models import generator, made

from onward.models.classifier import Classifier, linear_probe, mlp
from onward.models.probe_bank import ProbeBank, bank_key


def _probes(*classes: int, width: int = 7) -> list[Classifier]:
    return [
        linear_probe((width,), number, torch.Generator().manual_seed(seed))
        for seed, number in enumerate(classes)
    ]


def _sum_of_products(outputs: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """Return a loss that has this gradient at the outputs."""
    return (outputs * gradient).sum()


def test_probes_in_a_bank_have_the_gradients_of_autograd() -> None:
    wide, alone = _probes(5, 5, 5), _probes(5, 5, 5)
    bank = ProbeBank(wide)
    for size in (4, 9, 2):
        inputs = torch.randn(size, 7)
        gradients = [torch.randn(size, probe.classes) for probe in alone]
        bank.forward(inputs)
        for place, (probe, gradient) in enumerate(zip(alone, gradients, strict=True)):
            probe.zero_grad()
            outputs = probe(inputs)
            torch.testing.assert_close(bank.outputs(place), outputs.detach())
            bank.backward(place, _sum_of_products(bank.outputs(place), gradient))
            _sum_of_products(outputs, gradient).backward()
        bank.finish_backward()
        for mine, other in zip(wide, alone, strict=True):
            for parameter, reference in zip(mine.parameters(), other.parameters(), strict=True):
                torch.testing.assert_close(parameter.grad, reference.grad)
                with torch.no_grad():
                    for one in (parameter, reference):
                        assert one.grad is not None
                        one.sub_(one.grad, alpha=0.1)


def test_a_loss_may_use_the_parameters_of_a_probe_directly() -> None:
    (wide, other), (alone, _) = _probes(3, 3), _probes(3, 3)
    bank = ProbeBank([wide, other])
    inputs = torch.randn(5, 7)
    bank.forward(inputs)
    for probe, outputs in ((wide, bank.outputs(0)), (alone, alone(inputs))):
        loss = outputs.square().sum() + sum(p.square().sum() for p in probe.parameters())
        if probe is wide:
            bank.backward(0, loss)
        else:
            loss.backward()
    bank.finish_backward()
    for parameter, reference in zip(wide.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, reference.grad)


def test_a_probe_keeps_its_weights_when_the_bank_releases_it() -> None:
    probes = _probes(3, 3)
    bank = ProbeBank(probes)
    probes[0].head.weight.detach()[1] = 5.0
    bank.release()
    inputs = torch.ones(1, 7)
    assert probes[0].predict(inputs)[0, 1] == pytest.approx(35.0 + probes[0].head.bias[1].item())
    before = probes[1].head.weight.detach().clone()
    probes[0].head.weight.detach().zero_()
    assert torch.equal(probes[1].head.weight, before)
    probes[0].add_classes(6, torch.Generator())
    assert probes[0].predict(inputs).shape == (1, 6)


class _SumOfOutputs:
    def losses_of_heads(
        self, outputs: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return outputs.sum((1, 2)), torch.ones_like(outputs)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_replaced_gradient_does_not_persist_to_the_next_step(at_once: bool) -> None:
    probes = _probes(2, 2)
    bank = ProbeBank(probes)
    inputs = torch.randn(3, 7)
    for _ in range(2):
        bank.forward(inputs)
        if at_once:
            bank.backward_of_heads(_SumOfOutputs(), torch.zeros(3, dtype=torch.long))
        for place in range(2):
            outputs = bank.outputs(place)
            if not at_once:
                bank.backward(place, outputs.sum())
        bank.finish_backward()
        found = probes[0].head.bias.grad
        assert found is not None
        assert found.tolist() == [3.0, 3.0]
        probes[0].head.bias.grad = torch.full((2,), 9.0)


def test_a_loss_that_raises_leaves_the_gradients_of_the_others() -> None:
    probes, alone = _probes(3, 3), _probes(3, 3)[1]
    bank, inputs = ProbeBank(probes), torch.randn(4, 7)
    bank.forward(inputs)
    bank.outputs(0)
    bank.backward(1, bank.outputs(1).square().sum())
    bank.finish_backward()
    alone(inputs).square().sum().backward()
    for parameter, reference in zip(probes[1].parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, reference.grad)


def test_models_with_one_key_share_more_than_the_batch() -> None:
    probe, other, larger = _probes(2, 2, 3)
    assert bank_key(probe) == bank_key(other)
    assert bank_key(probe) != bank_key(larger)
    assert bank_key(probe) != bank_key(_probes(2, width=5)[0])
    for model in (made("linear-cosine"), mlp((7,), 2, generator())):
        assert bank_key(model) is None


def test_probes_in_other_precisions_than_fp32_share_no_bank() -> None:
    (probe,) = _probes(2)
    probe.precision = "bf16"
    assert bank_key(probe) is None
