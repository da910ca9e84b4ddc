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
from onward.models.gradient_cache import GradientCache
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
    task = ImageText() if name == "clip_small" else OneLabel()
    cache, found = GradientCache(model, micro_batch_size), []
    for one in (model, cache, cache):
        model.zero_grad()
        outputs = one(inputs)
        features = one.features
        penalty = sum(parameter.square().sum() for parameter in model.parameters())
        loss = task.loss(outputs, targets) + 0.01 * features.sum() + 0.001 * penalty
        loss.backward()
        one.continue_backward()
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
    cache = GradientCache(model, 4)
    cache(inputs).sum().backward()
    cache.continue_backward()
    assert seen == [4, 4, 4, 1] * 2


def test_a_loss_of_parameters_alone_needs_no_outputs() -> None:
    model, inputs, _ = _case("mlp")
    cache = GradientCache(model, 4)
    cache(inputs)
    model.head.weight.sum().backward()
    cache.continue_backward()
    assert model.head.weight.grad.eq(1).all()


def test_clearing_the_graph_releases_inputs_and_features() -> None:
    model, inputs, _ = _case("mlp")
    cache = GradientCache(model, 4)
    cache(inputs)
    assert len(cache.features) == SAMPLES
    cache.clear_graph()
    assert cache.features is None
    assert model.features is None


def test_a_teacher_copy_keeps_the_weights_and_the_micro_batches() -> None:
    model, inputs, _ = _case("clip_small")
    cache = GradientCache(model, 4)
    teacher = cache.teacher_copy(snapshot(cache), 3)
    assert isinstance(teacher, GradientCache)
    before = cache.predict(inputs)
    cache.init_weights(generator(5))
    torch.testing.assert_close(teacher.predict(inputs), before)
    assert not torch.equal(cache.predict(inputs), before)


@pytest.mark.parametrize("name", ["resnet18", "convnet"])
def test_batch_normalization_is_refused(name: str) -> None:
    message = "micro_batch_size = 4, found one with batch normalization or dropout"
    with pytest.raises(OnwardError, match=message):
        GradientCache(made(name), 4)


def test_dropout_is_refused() -> None:
    """A micro-batch that is computed twice would draw other numbers."""

    def make(p: float) -> Classifier:
        layers = nn.Linear(7, 5), nn.Dropout(p)
        return Classifier(lambda: nn.Sequential(*layers), (7,), 3, generator())

    with pytest.raises(OnwardError, match="found one with batch normalization or dropout"):
        GradientCache(make(0.1), 4)
    assert GradientCache(make(0.0), 4).classes == 3


@pytest.mark.parametrize("method", ["finetune", "lwf", "agem", "lucir"])
def test_a_run_in_micro_batches_is_the_run(method: str) -> None:
    emoji = onward.load("clear", data="emoji", protocol="streaming")
    small = retrained(emoji, {"epochs": 3})
    whole = onward.run(small, method).matrix()
    parts = onward.run(retrained(small, {"at_once": 50}), method).matrix()
    np.testing.assert_allclose(parts, whole, atol=2e-3)
