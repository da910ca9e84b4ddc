"""Weights under the names of every published layout give the features of their own network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from onward.benchmarks.backbones import BACKBONES, load_backbone
from onward.errors import OnwardError
from onward.models.encoder import build_encoder, published_resnet50
from onward.models.torchvision_loader import torchvision

Weights = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    """A ResNet-50 with statistics that are not those of a fresh one."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made: torch.nn.Module = torchvision().models.resnet50(weights=None)
        made.train()(torch.rand(4, 3, 64, 64))
    return made.eval()


@pytest.fixture(scope="module")
def features(network: torch.nn.Module, pixels: torch.Tensor) -> torch.Tensor:
    mean, deviation = (
        torch.tensor(values).view(3, 1, 1)
        for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    )
    headless = torch.nn.Sequential(*list(network.children())[:-1])
    with torch.no_grad():
        found: torch.Tensor = headless((pixels - mean) / deviation).flatten(1)
    return found


@pytest.fixture(scope="module")
def pixels() -> torch.Tensor:
    return torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def with_prefix(prefix: str, weights: Weights) -> Weights:
    return {prefix + name: value for name, value in weights.items()}


def body(weights: Weights) -> Weights:
    return {name: value for name, value in weights.items() if not name.startswith("fc.")}


def moco(weights: Weights) -> Any:
    """As the released code of MoCo v2 saves it: two encoders, a queue, an optimiser."""
    head = {f"fc.{layer}.weight": torch.zeros(2048, 2048) for layer in (0, 2)}
    other = {name: torch.zeros_like(value) for name, value in body(weights).items()}
    state = {
        **with_prefix("module.encoder_q.", {**body(weights), **head}),
        **with_prefix("module.encoder_k.", {**other, **head}),
        "module.queue": torch.zeros(128, 16),
        "module.queue_ptr": torch.zeros(1, dtype=torch.int64),
    }
    return {"epoch": 200, "arch": "resnet50", "state_dict": state, "optimizer": {"state": {}}}


def openselfsup(weights: Weights) -> Any:
    target = {name: torch.zeros_like(value) for name, value in body(weights).items()}
    state = {**with_prefix("backbone.", body(weights)), **with_prefix("target_net.0.", target)}
    return {"meta": {"epoch": 200}, "state_dict": state}


def byol_sequence(weights: Weights) -> Any:
    """As conversions that cut the network into a plain sequence save it."""
    numbers = {"conv1": 0, "bn1": 1, "layer1": 4, "layer2": 5, "layer3": 6, "layer4": 7}
    numbered = {
        f"{numbers[name.split('.')[0]]}.{name.split('.', 1)[1]}": value
        for name, value in body(weights).items()
    }
    return {"model": with_prefix("online_network.encoder.", numbered)}


def before_counts(weights: Weights) -> Any:
    """As torch saved it before it counted batches."""
    return {name: v for name, v in weights.items() if not name.endswith("num_batches_tracked")}


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("moco_b0", moco),
        ("moco_imagenet", openselfsup),
        pytest.param("byol_imagenet", openselfsup, marks=pytest.mark.slow),
        ("byol_imagenet", byol_sequence),
        pytest.param("byol_imagenet", dict, marks=pytest.mark.slow),
        ("imagenet", before_counts),
    ],
)
def test_a_published_layout(
    name: str,
    layout: Callable[[Weights], Any],
    network: torch.nn.Module,
    pixels: torch.Tensor,
    features: torch.Tensor,
    tmp_path: Path,
) -> None:
    path = tmp_path / "weights.pth"
    torch.save(layout(dict(network.state_dict())), path)
    encoder = published_resnet50(path, BACKBONES[name].prefixes).eval()
    with torch.no_grad():
        found = encoder.features(pixels)
    assert found.shape == (2, 2048)
    assert torch.allclose(found, features, atol=1e-5)


def test_safetensors_are_read_too(
    network: torch.nn.Module, pixels: torch.Tensor, features: torch.Tensor, tmp_path: Path
) -> None:
    path = tmp_path / "weights.safetensors"
    save_file(network.state_dict(), path)
    assert load_backbone("imagenet", str(path)).size == 224
    with torch.no_grad():
        read = published_resnet50(path, BACKBONES["imagenet"].prefixes).eval().features(pixels)
    assert torch.allclose(read, features, atol=1e-5)


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    weights = body(dict(build_encoder("resnet18").trunk.state_dict()))
    torch.save({"state_dict": weights}, tmp_path / "small.pth")
    with pytest.raises(OnwardError) as error:
        load_backbone("imagenet", str(tmp_path / "small.pth"))
    text = str(error.value)
    assert "missing (layer1.0.bn3.bias, layer1.0.bn3.num" not in text
    assert (
        "missing (layer1.0.bn3.bias, layer1.0.bn3.running_mean, layer1.0.bn3.running_var, …)"
        in text
    )
    assert "of another shape (layer1.0.conv1.weight, " in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("imagenet", b"no tensors at all", "nothing inside it was run"),
        ("imagenet", None, "found none at"),
        ("moco", None, "onward pretrain clear"),
        ("imagnet", None, "Did you mean 'imagenet'"),
    ],
)
def test_a_wrong_file_is_a_clear_message(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pth"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OnwardError, match=message):
        load_backbone(name, str(path))


def test_a_backbone_needs_weights() -> None:
    with pytest.raises(OnwardError, match="expected the weights of the backbone moco_b0"):
        load_backbone("moco_b0", None)


def test_clip_without_open_clip_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OnwardError, match=r"onward\[clip\]"):
        load_backbone("clip", str(tmp_path / "RN50.pt"))
