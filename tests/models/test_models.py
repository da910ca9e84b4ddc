"""Every model keeps to the protocol that the gradient learner relies on."""

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator

import pytest
import torch
from small_models import CASES, generator, inputs_for, made, targets_for

from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.models.resnet32 import ResNet32
from onward.models.torchvision_loader import torchvision
from onward.models.torchvision_resnet import ResNet18, ResNet50
from onward.tasks.one_label import OneLabel
from onward.train.backward import output_gradient
from onward.train.weights import snapshot


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


@pytest.fixture(autouse=True)
def _as_the_learner_does() -> object:
    with torch.no_grad():
        yield


def trained(name: str) -> Model:
    """Return a model after a few steps, so that its statistics are not the initial ones."""
    model = made(name)
    for seed in range(2):
        outputs = model.forward(inputs_for(name, seed=seed))
        model.backward(output_gradient(outputs, lambda out: OneLabel().loss(out, targets_for())))
        for parameter in model.parameters.values():
            assert parameter.grad is not None
            parameter.add_(parameter.grad, alpha=-0.01)
    return model


@pytest.mark.parametrize("name", CASES)
def test_weights_come_from_the_generator_alone(name: str) -> None:
    torch.manual_seed(1)
    one = snapshot(made(name))
    torch.manual_seed(2)
    before = torch.get_rng_state()
    again = made(name)
    assert same(one, snapshot(again))
    assert not same(one, snapshot(made(name, seed=5)))
    again.reset(generator(5))
    again.grow(4, generator(5))
    again.frozen(snapshot(again), 4)
    assert torch.equal(before, torch.get_rng_state())


@contextlib.contextmanager
def one_way_to_convolve() -> Iterator[None]:
    """Leave oneDNN out, which convolves in another way for each size of a batch and each layout.

    On some processors these ways round so differently that tiny batches make much of it.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32", UserWarning)
        with torch.backends.mkldnn.flags(enabled=False):
            yield


@pytest.mark.parametrize("name", CASES)
def test_reset_forgets_everything(name: str) -> None:
    model, fresh = trained(name), made(name)
    assert not same(snapshot(model), snapshot(fresh))
    for one in (model, fresh):
        one.reset(generator(7))
    assert same(snapshot(model), snapshot(fresh))


@pytest.mark.parametrize("name", CASES)
def test_predicting_changes_nothing_and_answers_the_same_twice(name: str) -> None:
    model = trained(name)
    before = snapshot(model)
    one, other = model.predict(inputs_for(name)), model.predict(inputs_for(name))
    assert torch.equal(one, other)
    assert same(before, snapshot(model))
    # One sample's answer does not depend on who is predicted beside it.
    with one_way_to_convolve():
        alone, beside = model.predict(inputs_for(name)[:1]), model.predict(inputs_for(name))
    torch.testing.assert_close(alone, beside[:1])


@pytest.mark.parametrize("name", CASES)
def test_backward_may_be_called_twice(name: str) -> None:
    model = made(name)
    outputs = model.forward(inputs_for(name))
    slope = output_gradient(outputs, lambda out: OneLabel().loss(out, targets_for()))
    model.backward(slope)
    once = {n: p.grad.clone() for n, p in model.parameters.items() if p.grad is not None}
    model.backward(2 * slope)
    twice = {n: p.grad for n, p in model.parameters.items() if p.grad is not None}
    assert once.keys() == twice.keys() == model.parameters.keys()
    for parameter in once:
        torch.testing.assert_close(2 * once[parameter], twice[parameter])


@pytest.mark.parametrize("name", CASES)
def test_growing_touches_the_head_only_and_keeps_what_it_knows(name: str) -> None:
    model = trained(name)
    before, answers = snapshot(model), model.predict(inputs_for(name))
    macs, size = model.macs, model.size
    model.grow(20, generator(3))
    assert model.classes == 20
    torch.testing.assert_close(model.predict(inputs_for(name))[:, :3], answers)
    width = model.head["weight"].shape[1]
    assert model.macs == macs + 17 * width
    assert model.size == size + 17 * (width + ("bias" in model.head))
    after = snapshot(model)
    body = before.keys() - set(model.head)
    assert all(torch.equal(before[n], after[n]) for n in body)
    assert all(torch.equal(before[n][:3], after[n][:3]) for n in model.head)
    assert after["weight"][3:20].std() > 0
    model.forward(inputs_for(name))
    model.backward(torch.ones(6, 20))


@pytest.mark.parametrize("name", CASES)
def test_a_teacher_is_independent_of_its_pupil(name: str) -> None:
    model = trained(name)
    known = model.predict(inputs_for(name))
    teacher = model.frozen(snapshot(model), model.classes)
    model.grow(5, generator(9))
    for parameter in model.parameters.values():
        parameter.zero_()
    model.forward(inputs_for(name, seed=4))
    torch.testing.assert_close(teacher.predict(inputs_for(name)), known)
    assert teacher.classes == 3
    assert model.predict(inputs_for(name)).shape == (6, 5)


@pytest.mark.parametrize("name", CASES)
def test_squared_gradients_are_those_of_single_samples(name: str) -> None:
    model = trained(name)
    inputs, before = inputs_for(name), snapshot(model)
    mean = output_gradient(model.predict(inputs), lambda out: OneLabel().loss(out, targets_for()))
    slopes = mean * len(inputs)
    found = model.squared_gradient(inputs, slopes)
    assert same(before, snapshot(model))
    # One sample at a time: `forward` then has fixed statistics, and nothing to mix with.
    expected = {n: torch.zeros_like(p) for n, p in model.parameters.items()}
    for sample, slope in zip(inputs, slopes, strict=True):
        model.forward(sample[None])
        model.backward(slope[None])
        for n, parameter in model.parameters.items():
            assert parameter.grad is not None
            expected[n] += parameter.grad**2
    for n in expected:
        assert expected[n].max() > 0
        torch.testing.assert_close(found[n], expected[n], rtol=1e-4, atol=1e-7)


def autograd_mlp(model: Model) -> torch.nn.Module:
    net = torch.nn.Sequential(
        torch.nn.Linear(7, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, model.classes)
    )
    for layer, names in ((0, ("hidden_weight", "hidden_bias")), (2, ("weight", "bias"))):
        weight, bias = (model.parameters[n][: net[layer].out_features] for n in names)
        net[layer].load_state_dict({"weight": weight, "bias": bias})
    return net


@pytest.mark.parametrize("classes", [2, 16, 17])
def test_the_mlps_gradient_is_autograds(classes: int) -> None:
    model, inputs, targets = made("mlp", classes), inputs_for("mlp"), targets_for(6, classes)
    outputs = model.forward(inputs)
    loss = OneLabel().loss(outputs, targets)
    model.backward(output_gradient(outputs, lambda out: OneLabel().loss(out, targets)))
    net = autograd_mlp(model)
    with torch.enable_grad():
        value = torch.nn.functional.cross_entropy(net(inputs), targets)
        value.backward()
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)
    expected = [p.grad for p in net.parameters()]
    for parameter, reference in zip(model.parameters.values(), expected, strict=True):
        assert parameter.grad is not None
        assert reference is not None
        torch.testing.assert_close(parameter.grad[: len(reference)], reference)
        assert not parameter.grad[len(reference) :].any()
    assert model.macs == 7 * 2048 + 2048 * classes
    assert model.size == 8 * 2048 + 2049 * classes


@one_way_to_convolve()
def test_resnet_is_torchvisions() -> None:
    model, inputs, targets = made("resnet18"), inputs_for("resnet18"), targets_for()
    net = torchvision().models.resnet18(num_classes=3)
    named = {f"fc.{n}" if n in model.head else n: p for n, p in snapshot(model).items()}
    net.load_state_dict(named, strict=False)
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    images = ((inputs / 255 - mean) / deviation).permute(0, 3, 1, 2).contiguous()
    outputs = model.forward(inputs)
    model.backward(output_gradient(outputs, lambda out: OneLabel().loss(out, targets)))
    with torch.enable_grad():
        outputs = net(images)
        torch.nn.functional.cross_entropy(outputs, targets).backward()
    torch.testing.assert_close(model.forward(inputs), outputs.detach(), rtol=1e-4, atol=1e-4)
    for name, parameter in net.named_parameters():
        found = model.parameters[name.removeprefix("fc.")].grad
        assert found is not None
        assert (found - parameter.grad).norm() < 1e-3 * parameter.grad.norm()


def test_training_moves_resnets_statistics_and_predicting_uses_them() -> None:
    model = made("resnet18")
    before = {n: b.clone() for n, b in model.buffers.items()}
    outputs = model.forward(inputs_for("resnet18"))
    assert not any(torch.equal(before[n], b) for n, b in model.buffers.items())
    assert not torch.allclose(model.predict(inputs_for("resnet18")), outputs)
    after = copy.deepcopy(model.buffers)
    model.forward(inputs_for("resnet18", samples=1))
    assert same(after, model.buffers)


def test_resnet_18_costs_what_is_published() -> None:
    model = ResNet18((224, 224, 3), 1000, generator())
    assert model.macs == pytest.approx(1.82e9, rel=0.005)
    assert model.size == 11_689_512
    assert ResNet18((32, 32, 3), 1000, generator()).macs < model.macs / 45


def test_resnet_50_costs_what_is_published() -> None:
    model = ResNet50((224, 224, 3), 1000, generator())
    assert model.macs == pytest.approx(4.09e9, rel=0.005)
    assert model.size == 25_557_032
    assert model.parameters["weight"].shape == (1000, 2048)


def test_resnet_32_is_iircs() -> None:
    model = ResNet32((32, 32, 3), 115, generator())
    body = sum(p.numel() for n, p in model.parameters.items() if n not in model.head)
    assert body == 466_256
    assert model.size == 466_256 + 7_475
    assert model.macs == pytest.approx(69.5e6, rel=0.01)
    images = torch.randint(0, 256, (4, 32, 32, 3), dtype=torch.uint8, generator=generator(1))
    features = model.embed(images)
    assert features.shape == (4, 64)
    # No ReLU at the end, though an average over pixels would hide most of it.
    assert (features < 0).any()
    # Kaiming, by inputs: 2 / (64 x 9) of a convolution, 1 / 64 of the head.
    last = model.parameters["blocks.14.conv2.weight"]
    assert last.var().item() == pytest.approx(2 / (64 * 9), rel=0.02)
    assert model.parameters["weight"].var().item() == pytest.approx(1 / 64, rel=0.05)


@pytest.mark.parametrize(
    ("build", "shape", "message"),
    [
        (MODELS["linear"], (32, 32, 3), "choose features, or the model resnet18"),
        (MODELS["mlp"], (32, 32, 3), "choose features, or the model resnet18"),
        (MODELS["resnet18"], (497,), "choose the model linear or mlp"),
        (MODELS["resnet18"], (32, 32, 4), r"3 colours\), found inputs of the shape \(32, 32, 4\)"),
        (MODELS["resnet18"], (7, 32, 3), "at least 8 pixels a side"),
    ],
)
def test_a_model_that_does_not_fit_says_so(
    build: Callable[..., Model], shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(OnwardError, match=message):
        build(shape, 3, generator())


def test_resnet_takes_bytes() -> None:
    with pytest.raises(OnwardError, match="as bytes, found"):
        made("resnet18").predict(torch.zeros(2, 16, 16, 3))
