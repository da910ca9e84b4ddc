"""A batch in parts has the gradient of the whole batch."""

import numpy as np
import pytest
import torch
from small_models import generator, inputs_for, made

import onward
from onward.benchmarks import retrained
from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.models.in_parts import InParts
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.tasks.one_label import OneLabel
from onward.train.backward import output_gradient
from onward.train.weights import gradients, snapshot

SAMPLES = 13


@pytest.fixture(autouse=True)
def _as_the_learner_does() -> object:
    with torch.no_grad():
        yield


def _case(name: str) -> tuple[Model, torch.Tensor, torch.Tensor]:
    """Return a model, a batch, and the targets of its samples."""
    if name != "clip_small":
        return made(name), inputs_for(name, SAMPLES), torch.arange(SAMPLES) % 3
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (SAMPLES, 32, 32, 3), np.uint8)
    pairs = made_pairs(pair_type((32, 32, 3), 20), images, [f"{n} foxes" for n in range(SAMPLES)])
    model = MODELS[name]((32, 32, 3), 3, generator())
    return model, torch.from_numpy(as_bytes(pairs)), torch.arange(SAMPLES)


CASES = ("linear", "linear-cosine", "mlp", "clip_small")


@pytest.mark.parametrize("at_once", [1, 4, 13, 100])
@pytest.mark.parametrize("name", CASES)
def test_gradient_and_features_are_those_of_the_whole(name: str, at_once: int) -> None:
    model, inputs, targets = _case(name)
    task = ImageText() if name == "clip_small" else OneLabel()
    outputs = model.forward(inputs)
    below = torch.full_like(model.features, 0.01)
    features = model.features.clone()
    slope = output_gradient(outputs, lambda out: task.loss(out, targets))
    model.backward(slope, below)
    whole = {name: gradient.clone() for name, gradient in gradients(model).items()}
    parts = InParts(model, at_once)
    torch.testing.assert_close(parts.forward(inputs), outputs)
    torch.testing.assert_close(parts.features, features)
    for _ in range(2):  # it may be asked more than once
        parts.backward(slope, below)
        torch.testing.assert_close(gradients(parts), whole, atol=1e-6, rtol=1e-4)
    assert any(gradient.abs().max() > 1e-4 for gradient in whole.values())


@pytest.mark.parametrize("name", CASES)
def test_no_more_samples_than_asked_are_worked_on_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, inputs, _ = _case(name)
    seen = []
    forward = type(model).forward
    monkeypatch.setattr(
        type(model), "forward", lambda self, rows: (seen.append(len(rows)), forward(self, rows))[1]
    )
    parts = InParts(model, 4)
    parts.backward(torch.ones_like(parts.forward(inputs)))
    assert seen == [4, 4, 4, 1] * 2


def test_a_teacher_of_it_answers_as_it_did() -> None:
    model, inputs, _ = _case("clip_small")
    parts = InParts(model, 4)
    teacher = parts.frozen(snapshot(parts), 3)
    before = parts.predict(inputs)
    parts.reset(generator(5))
    torch.testing.assert_close(teacher.predict(inputs), before)
    assert not torch.equal(parts.predict(inputs), before)


@pytest.mark.parametrize("name", ["resnet18", "convnet"])
def test_batch_normalisation_is_refused(name: str) -> None:
    with pytest.raises(OnwardError, match="at_once = 4, found one with batch normalisation"):
        InParts(made(name), 4)


@pytest.mark.parametrize("method", ["finetune", "lwf", "agem", "lucir"])
def test_a_run_in_parts_is_the_run(method: str) -> None:
    emoji = onward.load("clear", data="emoji", protocol="streaming")
    small = retrained(emoji, {"epochs": 3})
    whole = onward.run(small, method).matrix()
    parts = onward.run(retrained(small, {"at_once": 50}), method).matrix()
    np.testing.assert_allclose(parts, whole, atol=2e-3)
