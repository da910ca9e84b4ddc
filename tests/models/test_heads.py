"""Linear and cosine heads, and the features that they stand on."""

from collections.abc import Callable

import pytest
import torch
from small_models import generator, grad_copies, inputs_for, made, targets_for
from torch.nn import functional

from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.models.classifier import CosineHead, Head, LinearHead
from onward.tasks.one_label import OneLabel

KINDS = pytest.mark.parametrize("kind", [LinearHead, CosineHead])


def reference(model: Model, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return outputs and features of a two-layer model or a head, by torch's functions."""
    values = dict(model.named_parameters())
    features = inputs
    if "backbone.0.weight" in values:
        weight, bias = values["backbone.0.weight"], values["backbone.0.bias"]
        features = functional.linear(inputs, weight, bias).relu()
    if "head.eta" not in values:
        return features @ values["head.weight"].t() + values["head.bias"], features
    units, weights = (functional.normalize(v) for v in (features, values["head.weight"]))
    return values["head.eta"] * (units @ weights.t()), features


@pytest.mark.parametrize("name", ["linear", "linear-cosine", "mlp", "mlp-cosine"])
def test_gradients_also_reach_below_a_loss_of_the_features(name: str) -> None:
    model, inputs, targets = made(name).train(), inputs_for(name), targets_for()
    if name.endswith("cosine"):
        model.head.eta.detach().fill_(2.5)
    outputs = model(inputs)
    weights = torch.randn(model.features.shape, generator=generator(3))
    (OneLabel().loss(outputs, targets) + (model.features * weights).sum()).backward()
    found = grad_copies(model)
    assert found.keys() == dict(model.named_parameters()).keys()
    torch.testing.assert_close(model.embed(inputs), model.features.detach())
    expected_outputs, features = reference(model, inputs)
    value = functional.cross_entropy(expected_outputs, targets) + (features * weights).sum()
    torch.testing.assert_close(model.predict(inputs), expected_outputs.detach())
    expected = torch.autograd.grad(value, [*model.parameters()])
    for gradient, other in zip(found.values(), expected, strict=True):
        torch.testing.assert_close(gradient, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["resnet18", "resnet32-cosine"])
def test_the_gradient_of_a_loss_of_the_features_adds_to_that_of_the_outputs(name: str) -> None:
    model, inputs = made(name).train(), inputs_for(name)
    outputs = model(inputs)
    loss = OneLabel().loss(outputs, targets_for())
    weights = torch.randn(model.features.shape, generator=generator(3))
    of_features = (model.features * weights).sum()
    found = {}
    for what, value in {
        "outputs": loss,
        "features": of_features,
        "together": loss + of_features,
    }.items():
        model.zero_grad()
        value.backward(retain_graph=True)
        found[what] = grad_copies(model)
    below = {n for n in found["together"] if n.startswith("backbone.")}
    assert found["features"].keys() == below
    for n, gradient in found["together"].items():
        apart = found["outputs"][n] + found["features"].get(n, 0)
        assert (gradient - apart).norm() <= 1e-3 * apart.norm()
    assert found["features"]["backbone.conv1.weight"].abs().max() > 0


def test_a_cosine_head_sees_directions_only() -> None:
    model, inputs = made("linear-cosine"), inputs_for("linear-cosine")
    logits = model.predict(inputs)
    assert logits.abs().max() <= 1
    torch.testing.assert_close(model.predict(3 * inputs), logits)
    model.head.weight.detach().mul_(7)
    torch.testing.assert_close(model.predict(inputs), logits)
    # A zero vector has no direction: its logits are zero, and no gradient passes through it.
    assert not model.predict(0 * inputs).any()
    zero = (0 * inputs).requires_grad_()
    model(zero).sum().backward()
    assert not model.head.weight.grad.any()
    assert zero.grad is not None
    assert not zero.grad.any()


@KINDS
def test_a_head_of_any_size_begins_as_torchs_linear_layer(kind: Callable[..., Head]) -> None:
    head = kind(100, 50, generator())
    for name, rows in head.rows.items():
        assert len(rows) == 50
        assert rows.abs().max() <= 0.1
        if name == "weight":
            assert rows.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)


def test_a_normal_head_draws_its_weight_from_a_normal_distribution() -> None:
    head = LinearHead(100, 50, generator(), normal=True)
    assert head.weight.std().item() == pytest.approx(0.1, rel=0.05)
    assert head.weight.abs().max() > 0.3
    before = head.weight.detach().clone()
    head.add_classes(100, generator(1))
    assert torch.equal(head.weight[:50], before)
    assert head.weight[50:].std().item() == pytest.approx(0.1, rel=0.05)


@KINDS
def test_more_classes_keep_the_rows_of_known_ones(kind: Callable[..., Head]) -> None:
    head = kind(5, 2, generator())
    before = {name: rows.detach().clone() for name, rows in head.rows.items()}
    rest = {n: p.detach().clone() for n, p in head.named_parameters() if n not in head.rows}
    head.add_classes(2, generator(1))
    head.add_classes(1, generator(1))
    assert all(torch.equal(rows, before[name]) for name, rows in head.rows.items())
    head.add_classes(6, generator(1))
    assert head(torch.ones(3, 5)).shape == (3, 6)
    for name, rows in head.rows.items():
        assert torch.equal(rows[:2], before[name])
        assert rows[2:].all()
        assert rows.requires_grad
    assert all(torch.equal(p, rest[n]) for n, p in head.named_parameters() if n in rest)
    assert dict(head.named_parameters()).keys() == before.keys() | rest.keys()


def test_initializing_a_cosine_head_again_sets_eta_to_one() -> None:
    head = CosineHead(5, 2, generator())
    head.eta.detach().fill_(9)
    before = head.weight.detach().clone()
    head.init_weights(generator(1))
    assert head.eta.tolist() == [1.0]
    assert not torch.equal(head.weight, before)
    head.init_weights(generator())
    assert torch.equal(head.weight, before)


def test_a_model_has_as_many_hidden_units_as_asked() -> None:
    model = MODELS["mlp"]((7,), 3, generator(), hidden_dim=16)
    assert model.embed(inputs_for("mlp")).shape == (6, 16)
    assert (model.size, model.macs) == (8 * 16 + 17 * 3, 7 * 16 + 16 * 3)
    with pytest.raises(OnwardError, match=r"unknown head 'cosin'.*Did you mean 'cosine'"):
        MODELS["mlp"]((7,), 3, generator(), head="cosin")
