import copy

import numpy as np
import pytest
import torch
from last_outputs import last_outputs

from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods import lwf
from onward.methods.lwf import LwF
from onward.models import Model
from onward.models.classifier import Classifier, linear_probe
from onward.tasks.one_label import OneLabel
from onward.train.distillation import Teacher
from onward.train.method import Batch
from onward.types import Setting


def taught(probe: Classifier, **options: float) -> LwF:
    method = LwF(**options)  # type: ignore[arg-type]
    method.begin(Setting(OneLabel(), tiny_benchmark().recipes["cpu"], 0))
    method.on_learn_end(probe, range(1), None)  # type: ignore[arg-type]
    return method


def gradient(method: LwF, probe: Classifier, inputs: torch.Tensor) -> torch.Tensor:
    targets, count = torch.zeros(len(inputs), dtype=torch.int64), len(inputs)
    outputs = probe(inputs)
    batch = Batch(probe, inputs, outputs, targets, count, np.arange(count))
    return torch.autograd.grad(method.compute_loss(batch), outputs)[0]


def test_the_teacher_stays_as_it_was_while_the_model_moves_and_grows() -> None:
    probe = linear_probe((4,), 3, torch.Generator().manual_seed(0))
    method, inputs = taught(probe, alpha=1.0), torch.randn(5, 4)
    before = {name: values.copy() for name, values in method.state()["teacher"]["weights"].items()}
    said = probe.predict(inputs)
    probe.add_classes(20, torch.Generator().manual_seed(1))
    with torch.no_grad():
        probe.head.weight += 1.0
    outputs = probe(inputs)
    task, targets = OneLabel(), torch.zeros(5, dtype=torch.int64)
    loss = task.loss(outputs, targets) + task.distillation_loss(outputs, said)
    (expected,) = torch.autograd.grad(loss, outputs)
    torch.testing.assert_close(gradient(method, probe, inputs), expected)
    for name, values in method.state()["teacher"]["weights"].items():
        np.testing.assert_array_equal(values, before[name])


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_the_loss_is_that_of_the_paper(temperature: float) -> None:
    probe = linear_probe((4,), 3, torch.Generator().manual_seed(0))
    method = taught(probe, alpha=0.7, temperature=temperature)
    inputs, targets = torch.randn(5, 4), torch.zeros(5, dtype=torch.int64)
    outputs = torch.randn(5, 3, requires_grad=True)
    said = probe.predict(inputs)
    soft = (said / temperature).softmax(1)
    value = (
        torch.nn.functional.cross_entropy(outputs, targets)
        - 0.7 * (soft * (outputs / temperature).log_softmax(1)).sum(1).mean()
    )
    value.backward()
    leaf = outputs.detach().requires_grad_()
    loss = method.compute_loss(Batch(probe, inputs, leaf, targets, 5, np.arange(5)))
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)
    (found,) = torch.autograd.grad(loss, leaf)
    torch.testing.assert_close(found, outputs.grad)


def test_the_schedule_is_ten_even_values_from_0_to_2() -> None:
    probe, method = linear_probe((4,), 3, torch.Generator()), LwF()
    method.begin(Setting(OneLabel(), tiny_benchmark().recipes["cpu"], 0))
    found = []
    for _ in range(12):
        found.append(method.alpha())
        method.on_learn_end(probe, range(1), None)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, [*np.linspace(0, 2, 10), 2, 2])


@pytest.mark.parametrize("protocol", ["iid", "online"])
def test_alpha_makes_the_difference_to_finetuning(protocol: str) -> None:
    plain = last_outputs("finetune", protocol)
    without = last_outputs("lwf", protocol, alpha=0.0)
    np.testing.assert_allclose(without, plain, rtol=1e-4, atol=1e-5)
    assert not np.allclose(last_outputs("lwf", protocol), plain, rtol=1e-3, atol=1e-3)


def test_wrong_options_are_named() -> None:
    with pytest.raises(OnwardError, match="a number or 'schedule', found 'rising'"):
        LwF(alpha="rising")  # type: ignore[arg-type]
    with pytest.raises(OnwardError, match="above 0, found 0"):
        LwF(temperature=0)


def test_the_teacher_is_asked_once_and_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Counted(Teacher):
        def model(self, model: Model) -> Model:
            found, asks = super().model(model), copy.copy(model)

            def predict(inputs: torch.Tensor) -> torch.Tensor:
                asked.append(len(inputs))
                return found.predict(inputs)

            monkeypatch.setattr(asks, "predict", predict)
            return asks

    monkeypatch.setattr(lwf, "Teacher", Counted)
    recalled = last_outputs("lwf")
    periods = [len(period.train) for period in tiny_benchmark().stream(0)]
    assert sum(asked) == sum(periods[1:])
    monkeypatch.setattr(lwf, "MAX_CACHED_OUTPUTS", 0)
    np.testing.assert_allclose(last_outputs("lwf"), recalled, rtol=1e-4, atol=1e-5)
    assert sum(asked) > 2 * sum(periods[1:])
