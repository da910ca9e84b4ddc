"""Every model keeps to the protocol that the gradient learner relies on."""

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator

import pytest
import torch
from small_models import (
    CASES,
    backward,
    generator,
    grad_copies,
    inputs_for,
    made,
    same,
    targets_for,
    trained,
)
from torch import nn

from onward.errors import OnwardError
from onward.models import MODELS, Model
from onward.models.resnet32 import resnet32
from onward.models.torchvision_loader import torchvision
from onward.tasks.one_label import OneLabel
from onward.train.weights import snapshot


@pytest.mark.parametrize("name", CASES)
def test_weights_come_from_the_generator_alone(name: str) -> None:
    torch.manual_seed(1)
    one = snapshot(made(name))
    torch.manual_seed(2)
    before = torch.get_rng_state()
    again = made(name)
    assert same(one, snapshot(again))
    assert not same(one, snapshot(made(name, seed=5)))
    again.init_weights(generator(5))
    again.add_classes(4, generator(5))
    again.teacher_copy(snapshot(again), 4)
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
def test_init_weights_restores_initial_weights_and_statistics(name: str) -> None:
    model, fresh = trained(name), made(name)
    assert not same(snapshot(model), snapshot(fresh))
    for one in (model, fresh):
        one.init_weights(generator(7))
    assert same(snapshot(model), snapshot(fresh))


@pytest.mark.parametrize("name", CASES)
def test_predicting_changes_nothing_and_answers_the_same_twice(name: str) -> None:
    model = trained(name)
    before = snapshot(model)
    one, other = model.predict(inputs_for(name)), model.predict(inputs_for(name))
    assert torch.equal(one, other)
    assert same(before, snapshot(model))
    assert not one.requires_grad
    assert not model.embed(inputs_for(name)).requires_grad
    # One sample's answer does not depend on who is predicted beside it.
    with one_way_to_convolve():
        alone, beside = model.predict(inputs_for(name)[:1]), model.predict(inputs_for(name))
    torch.testing.assert_close(alone, beside[:1])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("training", [True, False])
def test_predicting_keeps_the_mode(name: str, training: bool) -> None:
    model = made(name).train(training)
    model.predict(inputs_for(name))
    model.embed(inputs_for(name))
    assert {module.training for module in model.modules()} == {training}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_two_backward_passes_add_up(name: str) -> None:
    model = made(name).train()
    loss = OneLabel().loss(model(inputs_for(name)), targets_for())
    loss.backward(retain_graph=True)
    once = grad_copies(model)
    (2 * loss).backward()
    thrice = grad_copies(model)
    assert once.keys() == thrice.keys() == dict(model.named_parameters()).keys()
    for parameter in once:
        torch.testing.assert_close(3 * once[parameter], thrice[parameter])


@pytest.mark.parametrize("name", CASES)
def test_more_classes_change_the_head_only_and_keep_known_rows(name: str) -> None:
    model = trained(name)
    before, logits = snapshot(model), model.predict(inputs_for(name))
    macs, size = model.macs, model.size
    model.add_classes(20, generator(3))
    assert model.classes == 20
    torch.testing.assert_close(model.predict(inputs_for(name))[:, :3], logits)
    rows = model.class_rows
    width = rows["head.weight"].shape[1]
    assert model.macs == macs + 17 * width
    assert model.size == size + 17 * (width + ("head.bias" in rows))
    after = snapshot(model)
    assert all(torch.equal(before[n], after[n]) for n in before.keys() - rows.keys())
    assert all(torch.equal(before[n][:3], after[n][:3]) for n in rows)
    assert after["head.weight"][3:20].std() > 0
    backward(model, inputs_for(name), targets_for(6, 20))
    assert model.head.weight.grad.shape == (20, width)


@pytest.mark.parametrize("name", CASES)
def test_class_rows_are_parameters_by_their_names(name: str) -> None:
    model = made(name)
    parameters = dict(model.named_parameters())
    names = {"head.weight"} if name.endswith("cosine") else {"head.weight", "head.bias"}
    assert model.class_rows.keys() == names
    assert all(parameters[n] is rows for n, rows in model.class_rows.items())


@pytest.mark.parametrize("name", CASES)
def test_a_teacher_is_independent_of_its_student(name: str) -> None:
    model = trained(name)
    known = model.predict(inputs_for(name))
    weights = snapshot(model)
    model.add_classes(5, generator(9))
    model.train()(inputs_for(name))  # with a graph, which no copy takes along
    teacher = model.teacher_copy(weights, 3)
    assert model.features is not None
    assert teacher.features is None
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    model(inputs_for(name, seed=4))
    torch.testing.assert_close(teacher.predict(inputs_for(name)), known)
    assert (teacher.classes, model.classes) == (3, 5)
    assert not teacher.training
    assert not any(parameter.requires_grad for parameter in teacher.parameters())
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("name", CASES)
def test_the_state_dict_restores_a_model(name: str) -> None:
    model, other = trained(name), made(name, seed=9)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.predict(inputs_for(name)), model.predict(inputs_for(name)))
    parts = {n.partition(".")[0] for n in model.state_dict()}
    assert parts == ({"head"} if name.startswith("linear") else {"backbone", "head"})


@pytest.mark.parametrize("name", CASES)
def test_clearing_the_graph_releases_the_features(name: str) -> None:
    model = made(name).train()
    model(inputs_for(name))
    assert model.features.shape[0] == 6
    model.clear_graph()
    assert model.features is None


@pytest.mark.parametrize("classes", [2, 16, 17])
def test_the_mlp_is_a_sequence_of_torch_layers(classes: int) -> None:
    model, inputs, targets = made("mlp", classes), inputs_for("mlp"), targets_for(6, classes)
    net = nn.Sequential(nn.Linear(7, 2048), nn.ReLU(), nn.Linear(2048, classes))
    net.load_state_dict(dict(zip(net.state_dict(), model.state_dict().values(), strict=True)))
    backward(model, inputs, targets)
    torch.nn.functional.cross_entropy(net(inputs), targets).backward()
    for parameter, reference in zip(model.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, reference.grad)
    assert model.macs == 7 * 2048 + 2048 * classes
    assert model.size == 8 * 2048 + 2049 * classes


@one_way_to_convolve()
def test_resnet_is_torchvisions() -> None:
    model, inputs, targets = made("resnet18"), inputs_for("resnet18"), targets_for()
    net = torchvision().models.resnet18(num_classes=3)
    net.load_state_dict(
        {n.removeprefix("backbone.").replace("head.", "fc."): v for n, v in snapshot(model).items()}
    )
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    images = ((inputs / 255 - mean) / deviation).permute(0, 3, 1, 2).contiguous()
    backward(model, inputs, targets)
    outputs = net(images)
    torch.nn.functional.cross_entropy(outputs, targets).backward()
    torch.testing.assert_close(model(inputs), outputs, rtol=1e-4, atol=1e-4)
    for name, parameter in model.named_parameters():
        expected = net.get_parameter(name.removeprefix("backbone.").replace("head.", "fc.")).grad
        assert (parameter.grad - expected).norm() < 1e-3 * expected.norm()


def test_training_moves_resnets_statistics_and_predicting_uses_them() -> None:
    model = made("resnet18").train()
    before = {n: b.clone() for n, b in model.backbone.named_buffers()}
    outputs = model(inputs_for("resnet18")).detach()
    assert not any(torch.equal(before[n], b) for n, b in model.backbone.named_buffers())
    assert not torch.allclose(model.predict(inputs_for("resnet18")), outputs)
    after = copy.deepcopy(dict(model.named_buffers()))
    model(inputs_for("resnet18", samples=1))
    assert same(after, dict(model.named_buffers()))
    assert {module.training for module in model.modules()} == {True}


def test_resnet_18_costs_what_is_published() -> None:
    model = MODELS["resnet18"]((224, 224, 3), 1000, generator())
    assert model.macs == pytest.approx(1.82e9, rel=0.005)
    assert model.size == 11_689_512
    assert MODELS["resnet18"]((32, 32, 3), 1000, generator()).macs < model.macs / 45


def test_resnet_50_costs_what_is_published() -> None:
    model = MODELS["resnet50"]((224, 224, 3), 1000, generator())
    assert model.macs == pytest.approx(4.09e9, rel=0.005)
    assert model.size == 25_557_032
    assert model.head.weight.shape == (1000, 2048)


def test_resnet_32_is_iircs() -> None:
    model = resnet32((32, 32, 3), 115, generator())
    assert sum(p.numel() for p in model.backbone.parameters()) == 466_256
    assert model.size == 466_256 + 7_475
    assert model.macs == pytest.approx(69.5e6, rel=0.01)
    images = torch.randint(0, 256, (4, 32, 32, 3), dtype=torch.uint8, generator=generator(1))
    features = model.embed(images)
    assert features.shape == (4, 64)
    # No ReLU at the end, though an average over pixels would hide most of it.
    assert (features < 0).any()
    # Kaiming, by inputs: 2 / (64 x 9) of a convolution, 1 / 64 of the head.
    last = model.get_parameter("backbone.blocks.14.conv2.weight")
    assert last.var().item() == pytest.approx(2 / (64 * 9), rel=0.02)
    assert model.head.weight.var().item() == pytest.approx(1 / 64, rel=0.05)


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
