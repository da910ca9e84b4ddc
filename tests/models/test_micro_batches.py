"""A batch in micro-batches has the gradient of the whole batch."""

import numpy as np
import pytest
import torch
from small_models import generator, grad_copies, inputs_for, made
from torch import nn

import onward
from onward.benchmarks import retrained
from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.models.classifier import Classifier
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.tasks.one_label import OneLabel
from onward.train.weights import snapshot

SAMPLES = 13


def _case(name: str) -> tuple[Model, torch.Tensor, torch.Tensor]:
    """Return a model, a batch, and the targets of its samples."""
    if name != "clip_small":
        return made(name).train(), inputs_for(name, SAMPLES), torch.arange(SAMPLES) % 3
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (SAMPLES, 32, 32, 3), np.uint8)
    pairs = made_pairs(pair_type((32, 32, 3), 20), images, [f"{n} foxes" for n in range(SAMPLES)])
    model = MODELS[name]((32, 32, 3), 3, generator()).train()
    return model, torch.from_numpy(as_bytes(pairs)), torch.arange(SAMPLES)


CASES = ("linear", "linear-cosine", "mlp", "clip_small")


@pytest.mark.parametrize("micro_batch_size", [1, 4, 13, 100])
@pytest.mark.parametrize("name", CASES)
def test_gradient_and_features_are_those_of_the_whole(name: str, micro_batch_size: int) -> None:
    """Of a loss that compares samples, and uses features and parameters too."""
    model, inputs, targets = _case(name)
    task, found = ImageText() if name == "clip_small" else OneLabel(), []
    for size in (None, micro_batch_size, micro_batch_size):
        model.micro_batch_size = size
        model.zero_grad()
        outputs = model(inputs)
        features = model.features
        penalty = sum(parameter.square().sum() for parameter in model.parameters())
        loss = task.loss(outputs, targets) + 0.01 * features.sum() + 0.001 * penalty
        loss.backward()
        found.append((outputs.detach(), features.detach(), grad_copies(model)))
    (outputs, features, whole), *others = found
    assert whole.keys() == dict(model.named_parameters()).keys()
    for other in others:
        torch.testing.assert_close(other[0], outputs)
        torch.testing.assert_close(other[1], features)
        torch.testing.assert_close(other[2], whole, atol=1e-6, rtol=1e-4)
    assert any(gradient.abs().max() > 1e-4 for gradient in whole.values())


@pytest.mark.parametrize("name", CASES)
def test_no_more_samples_than_asked_are_computed_together(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, inputs, _ = _case(name)
    seen = []
    forward = type(model).forward
    monkeypatch.setattr(
        type(model), "forward", lambda self, rows: (seen.append(len(rows)), forward(self, rows))[1]
    )
    model.compute_in_micro_batches(4)
    model(inputs).sum().backward()
    assert sorted(seen) == sorted([4, 4, 4, 1] * 2)


def test_activations_of_one_micro_batch_are_stored() -> None:
    """What the graph keeps does not grow with the batch, but for inputs, outputs and features."""
    model = Classifier(
        lambda: nn.Sequential(nn.Linear(7, 500), nn.ReLU(), nn.Linear(500, 5)), (7,), 3, generator()
    )
    stored = []
    for size in (None, 4):
        model.micro_batch_size = size
        numbers: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor, numbers=numbers: (numbers.append(tensor.numel()), tensor)[1],
            lambda tensor: tensor,
        ):
            model(torch.randn(400, 7))
        stored.append(max(numbers))
    assert stored[0] >= 400 * 500
    assert stored[1] < 400 * 10


def test_a_teacher_copy_keeps_the_weights_and_the_micro_batches() -> None:
    model, inputs, _ = _case("clip_small")
    model.compute_in_micro_batches(4)
    teacher = model.teacher_copy(snapshot(model), 3)
    assert teacher.micro_batch_size == 4
    before = model.predict(inputs)
    model.init_weights(generator(5))
    torch.testing.assert_close(teacher.predict(inputs), before)
    assert not torch.equal(model.predict(inputs), before)


@pytest.mark.parametrize("name", ["resnet18", "convnet"])
def test_batch_normalization_is_refused(name: str) -> None:
    message = "micro_batch_size = 4, found one with batch normalization"
    with pytest.raises(OnwardError, match=message):
        made(name).compute_in_micro_batches(4)


def test_dropout_is_the_same_when_activations_are_computed_again() -> None:
    layers = nn.Linear(7, 50), nn.Dropout(0.5)
    model = Classifier(lambda: nn.Sequential(*layers), (7,), 3, generator()).train()
    model.compute_in_micro_batches(4)
    inputs = torch.randn(9, 7)
    outputs = model(inputs)
    features = model.features.detach()
    outputs.sum().backward()
    # The sum of the logits has this gradient at the head, whose inputs are the features.
    torch.testing.assert_close(model.head.weight.grad, features.sum(0).expand(3, -1))


@pytest.mark.parametrize("method", ["finetune", "lwf", "agem", "lucir"])
def test_a_run_in_micro_batches_is_the_run(method: str) -> None:
    emoji = onward.load("clear", data="emoji", protocol="streaming")
    small = retrained(emoji, {"epochs": 3})
    whole = onward.run(small, method).matrix()
    parts = onward.run(retrained(small, {"micro_batch_size": 50}), method).matrix()
    np.testing.assert_allclose(parts, whole, atol=2e-3)
