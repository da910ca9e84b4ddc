"""Heads, and the features that they stand on: gradients as autograd has them."""

import pytest
import torch
from small_models import generator, inputs_for, made, targets_for

from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.tasks.one_label import OneLabel
from onward.train.backward import output_gradient


@pytest.fixture(autouse=True)
def _as_the_learner_does() -> object:
    with torch.no_grad():
        yield


def autograd_outputs(model: Model, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return outputs and features of a two-layer model or a head, with their graph."""
    values = model.parameters
    features = inputs
    if "hidden_weight" in values:
        hidden = torch.nn.functional.linear(inputs, values["hidden_weight"], values["hidden_bias"])
        features = hidden.relu()
    if "eta" not in values:
        return features @ values["weight"].t() + values["bias"], features
    units, weights = (torch.nn.functional.normalize(v) for v in (features, values["weight"]))
    return values["eta"] * (units @ weights.t()), features


@pytest.mark.parametrize("name", ["linear", "linear-cosine", "mlp", "mlp-cosine"])
def test_gradients_are_autograds_also_where_features_are_looked_at(name: str) -> None:
    model, inputs, targets = made(name), inputs_for(name), targets_for()
    if "eta" in model.parameters:
        model.parameters["eta"].fill_(2.5)
    slope = output_gradient(model.forward(inputs), lambda out: OneLabel().loss(out, targets))
    pull = torch.randn(model.features.shape, generator=generator(3))
    model.backward(slope, pull)
    found = {n: p.grad.clone() for n, p in model.parameters.items() if p.grad is not None}
    assert found.keys() == model.parameters.keys()
    torch.testing.assert_close(model.embed(inputs), model.features)
    for parameter in model.parameters.values():
        parameter.grad = None
        parameter.requires_grad_()
    with torch.enable_grad():
        outputs, features = autograd_outputs(model, inputs)
        value = torch.nn.functional.cross_entropy(outputs, targets) + (features * pull).sum()
    torch.testing.assert_close(model.predict(inputs), outputs.detach())
    expected = torch.autograd.grad(value, [*model.parameters.values()])
    for gradient, reference in zip(found.values(), expected, strict=True):
        torch.testing.assert_close(gradient, reference, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["resnet18", "resnet32-cosine"])
def test_a_network_passes_a_slope_at_its_features_on(name: str) -> None:
    model, inputs = made(name), inputs_for(name)
    outputs = model.forward(inputs)
    slope = output_gradient(outputs, lambda out: OneLabel().loss(out, targets_for()))
    both, pull = {}, torch.randn(model.features.shape, generator=generator(3))
    for what, slopes in {
        "outputs": (slope, None),
        "features": (0 * slope, pull),
        "together": (slope, pull),
    }.items():
        model.backward(*slopes)
        both[what] = {n: p.grad.clone() for n, p in model.parameters.items() if p.grad is not None}
    for n, gradient in both["together"].items():
        apart = both["outputs"][n] + both["features"][n]
        assert (gradient - apart).norm() <= 1e-3 * apart.norm()
    assert both["features"]["conv1.weight"].abs().max() > 0
    assert not both["features"]["weight"].any()


def test_a_cosine_head_sees_directions_only() -> None:
    model, inputs = made("linear-cosine"), inputs_for("linear-cosine")
    said = model.predict(inputs)
    assert said.abs().max() <= 1
    torch.testing.assert_close(model.predict(3 * inputs), said)
    model.parameters["weight"] *= 7
    torch.testing.assert_close(model.predict(inputs), said)
    # What has no direction says nothing, and passes nothing on.
    assert not model.predict(0 * inputs).any()
    model.forward(0 * inputs)
    model.backward(torch.ones(6, 3))
    assert not model.parameters["weight"].grad.any()


def test_a_model_has_as_many_hidden_units_as_asked() -> None:
    model = MODELS["mlp"]((7,), 3, generator(), hidden=16)
    assert model.embed(inputs_for("mlp")).shape == (6, 16)
    assert (model.size, model.macs) == (8 * 16 + 17 * 3, 7 * 16 + 16 * 3)
    with pytest.raises(OnwardError, match=r"unknown head 'cosin'.*Did you mean 'cosine'"):
        MODELS["mlp"]((7,), 3, generator(), head="cosin")
