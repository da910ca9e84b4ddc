"""Networks that start from a file, and the newer form of ResNet-50."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from small_models import generator

import onward
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.models import MODELS
from onward.models.classifier import Classifier
from onward.models.torchvision_loader import torchvision
from onward.protocols import DRIVE
from onward.train.weights import snapshot

SHAPE = (32, 32, 3)


@pytest.fixture(scope="module")
def published() -> torch.nn.Module:
    """A ResNet-18 of ImageNet's classes whose statistics are not those of a fresh one."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made: torch.nn.Module = torchvision().models.resnet18(weights=None)
        with torch.no_grad():
            made.train()(torch.rand(4, 3, 32, 32))
    return made.eval()


def images(count: int = 3) -> torch.Tensor:
    return torch.randint(0, 256, (count, *SHAPE), dtype=torch.uint8, generator=generator(3))


@pytest.mark.parametrize("kind", ["pth", "safetensors"])
def test_features_are_those_of_the_published_network(
    kind: str, published: torch.nn.Module, tmp_path: Path
) -> None:
    path = tmp_path / f"weights.{kind}"
    (torch.save if kind == "pth" else save_file)(dict(published.state_dict()), path)
    network = MODELS["resnet18"](SHAPE, 6, generator(), weights=str(path))
    pixels = images().permute(0, 3, 1, 2).float() / 255
    mean, deviation = (
        torch.tensor(values).view(3, 1, 1)
        for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    )
    body = torch.nn.Sequential(*list(published.children())[:-1])
    with torch.no_grad():
        expected = body((pixels - mean) / deviation).flatten(1)
    torch.testing.assert_close(network.embed(images()), expected, atol=1e-4, rtol=1e-4)
    # Starting anew is starting from the file, with another head.
    before = snapshot(network)
    network.train()(images())
    with torch.no_grad():
        for values in network.parameters():
            values.add_(1)
    network.init_weights(generator(5))
    after = snapshot(network)
    for name in before:
        assert torch.equal(before[name], after[name]) == (name not in network.class_rows)


def test_a_file_of_another_network_is_named(published: torch.nn.Module, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save(published.state_dict(), path)
    with pytest.raises(OnwardError, match=r"expected the weights of ResNet-50 in .*missing"):
        MODELS["resnet50"](SHAPE, 6, generator(), weights=str(path))
    with pytest.raises(OnwardError, match="found none at"):
        MODELS["resnet18"](SHAPE, 6, generator(), weights=str(tmp_path / "nothing.pth"))
    path.write_bytes(b"no tensors")
    with pytest.raises(OnwardError, match="nothing inside it was run"):
        MODELS["resnet18"](SHAPE, 6, generator(), weights=str(path))


def test_weights_for_a_hidden_layer_are_loaded_though_it_is_called_as_a_last_one(
    tmp_path: Path,
) -> None:
    """As in VGG, whose classifier has hidden layers that belong to the backbone."""

    def make(last: torch.nn.Module) -> torch.nn.Module:
        net = torch.nn.Module()
        net.classifier = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), last)
        net.forward = lambda inputs: net.classifier(inputs)
        return net

    whole, path = make(torch.nn.Linear(5, 9)), tmp_path / "weights.pth"
    torch.save(whole.state_dict(), path)
    options = {"weights": str(path), "name": "VGG"}
    model = Classifier(lambda: make(torch.nn.Identity()), (7,), 3, generator(), **options)
    inputs = torch.randn(4, 7)
    expected = whole.classifier[:2](inputs).detach()
    torch.testing.assert_close(model.embed(inputs), expected)
    torch.save({"classifier.0.bias": torch.zeros(5)}, path)
    with pytest.raises(OnwardError, match=r"expected the weights of VGG in .*found 1 missing"):
        model.init_weights(generator())


def test_resnet50_d_keeps_to_the_rule_on_parameters() -> None:
    plain, newer = (
        MODELS[name]((64, 64, 3), 1000, generator()) for name in ("resnet50", "resnet50d")
    )
    assert newer.size == 25_576_264  # as timm's resnet50d
    assert newer.size <= DRIVE.limits["parameters"]
    assert plain.size < newer.size < 1.01 * plain.size
    assert newer.get_parameter("backbone.conv1.0.weight").shape == (32, 3, 3, 3)
    assert newer.get_parameter("backbone.conv1.6.weight").shape == (64, 32, 3, 3)
    # A shortcut that halves the picture sees all of it: a change of any pixel changes its output.
    assert isinstance(newer, Classifier)
    shortcut = newer.backbone.layer2[0].downsample
    picture = torch.rand(1, 256, 4, 4)
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        changed = picture.clone()
        changed[..., row, column] += 1
        pooled, again = shortcut[1](shortcut[0](picture)), shortcut[1](shortcut[0](changed))
        assert not torch.equal(pooled[..., 0, 0], again[..., 0, 0])
        assert torch.equal(pooled[..., 1, 1], again[..., 1, 1])
    assert newer.backbone.layer2[0].conv2.stride == (2, 2)
    assert newer.backbone.layer2[0].conv1.stride == (1, 1)


def test_many_images_are_embedded_as_a_few_are() -> None:
    network = MODELS["convnet"](SHAPE, 3, generator(), image_size=64)
    many = images(70)
    found = network.predict(many)
    torch.testing.assert_close(found[40:43], network.predict(many[40:43]))
    assert network.predict(many[:0]).shape == (0, 3)


def test_a_model_of_features_has_no_weights_to_start_from() -> None:
    benchmark = tiny_benchmark()
    recipe = replace(benchmark.recipes["cpu"], weights="weights.pth")
    with pytest.raises(OnwardError, match=r"weights = weights\.pth, found linear"):
        onward.run(replace(benchmark, recipes={"cpu": recipe}), "finetune")
