"""Weights of published encoders, under whatever names they were published."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.encoder import Encoder, empty_encoder
from onward.models.open_clip_loader import open_clip, quietly
from onward.models.tensor_files import read_tensors
from onward.models.weights_folder import WEIGHTS, read_card

Weights = dict[str, Tensor]
"""Tensors by name, as in a state dict."""

# What published files wrap their weights in.
_WRAPPERS = ("state_dict", "model", "model_state_dict")
_PARALLEL = "module."
# Layers of a ResNet that is a plain sequence of its parts.
_NUMBERED = {"0": "conv1", "1": "bn1", "4": "layer1", "5": "layer2", "6": "layer3", "7": "layer4"}
_NAMED = 3
# What torchvision and timm call the last layer of a classifier, and further outputs of training.
_LAST_LAYERS = (
    *("fc.", "classifier.", "head.", "heads.", "head_dist.", "last_linear.", "classif."),
    *("aux1.", "aux2.", "AuxLogits."),
)
# How many batches a statistic was made of: files of early torch lack it, nothing reads it.
_COUNT = "num_batches_tracked"


def pretrained_encoder(folder: Path) -> tuple[Encoder, int]:
    """Return an encoder that ``onward pretrain`` wrote, and the side of its images."""
    recipe = read_card(folder)["recipe"]
    encoder = empty_encoder(recipe["encoder"])
    fit(encoder.trunk, _safetensors(folder / WEIGHTS), folder / WEIGHTS)
    return encoder, recipe["image_size"]


def published_resnet50(path: Path, prefixes: Sequence[str]) -> Encoder:
    """Return a ResNet-50 with the weights of a file, of which nothing is run.

    Prefixes are what may stand in front of a layer's name, in order of preference. All names
    without the one that is found (a second encoder, a queue) and a last layer are left out.
    """
    weights = read_weights(path)
    for prefix in prefixes:
        inner = {
            name.removeprefix(prefix): value
            for name, value in weights.items()
            if name.startswith(prefix)
        }
        if "4.0.conv1.weight" in inner:
            inner = {_renamed(name): value for name, value in inner.items()}
        if "conv1.weight" in inner:
            break
    encoder = empty_encoder("resnet50")
    fit(encoder.trunk, {n: v for n, v in inner.items() if not n.startswith("fc.")}, path)
    return encoder


class FeaturesOf(nn.Module):
    """Returns the features that a probe reads from an encoder, in evaluation mode."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """Return one row of features per image."""
        return self.encoder.features(pixels)


class ClipImageTower(nn.Module):
    """Returns embeddings of length 1 of pixels between 0 and 1, in evaluation mode."""

    mean: Tensor
    std: Tensor

    def __init__(self, visual: nn.Module, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.visual = visual
        for name, values in (("mean", mean), ("std", std)):
            self.register_buffer(name, torch.tensor(values).view(3, 1, 1))
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """Return one embedding per image."""
        return functional.normalize(self.visual((pixels - self.mean) / self.std), dim=1)


def published_clip(path: Path) -> ClipImageTower:
    """Return the image tower of CLIP's RN50 with the weights of a file."""
    library = open_clip()
    with quietly():
        visual: nn.Module = library.create_model("RN50-quickgelu", pretrained=None).visual.eval()
    prefix = "visual."
    weights = read_weights(path)
    fit(
        visual,
        {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)},
        path,
    )
    return ClipImageTower(visual, library.OPENAI_DATASET_MEAN, library.OPENAI_DATASET_STD)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read tensors by name, without running what is inside the file."""
    if not path.is_file():
        raise OnwardError(
            f"expected a file of weights, found none at {path}. Give the network's own file with "
            "--weights"
        )
    if path.suffix == ".safetensors":
        return _safetensors(path)
    found = read_tensors(path)
    for wrapper in _WRAPPERS:
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
    if not isinstance(found, Mapping):
        raise OnwardError(
            f"expected weights by name in {path}, found {type(found).__name__}. Is it the file of "
            "another thing?"
        )
    return {
        str(name): torch.from_numpy(value)
        for name, value in found.items()
        if isinstance(value, np.ndarray)
    }


def unwrapped(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights without the word that training on several devices puts before all names."""
    if not all(name.startswith(_PARALLEL) for name in weights):
        return dict(weights)
    return {name.removeprefix(_PARALLEL): value for name, value in weights.items()}


def fit(network: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Give a network its weights, or say which do not fit."""
    require_fit(network, weights, path, of=type(network).__name__)
    counts = {
        name: torch.zeros_like(count, device="cpu")
        for name, count in network.state_dict().items()
        if name.endswith(_COUNT)
    }
    network.load_state_dict({**weights, **counts}, assign=True)


def load_backbone(
    backbone: nn.Module,
    path: Path,
    *,
    of: str,
    convert: Callable[[Weights, nn.Module], Weights] | None = None,
) -> None:
    """Load a file's weights into a backbone; those of its last layer are left out.

    The last layer has other classes. It is what the file has and the backbone lacks, by the names
    that torchvision and timm use.

    Parameters
    ----------
    backbone
        The network without its last layer.
    path
        The file.
    of
        What the network is called in messages.
    convert
        Returns weights under the backbone's own names.
    """
    read, own = unwrapped(read_weights(path)), backbone.state_dict()
    if convert is not None:
        read = convert(read, backbone)
    inner = {n: v for n, v in read.items() if n in own or not n.startswith(_LAST_LAYERS)}
    require_fit(backbone, inner, path, of=of)
    counts = {n: v for n, v in own.items() if n.endswith(_COUNT)}
    backbone.load_state_dict({**inner, **counts})


def require_fit(network: nn.Module, weights: Mapping[str, Tensor], path: Path, *, of: str) -> None:
    """Say which weights of a file do not fit a network, which is called so."""
    own = network.state_dict()
    missing = sorted(name for name in own.keys() - weights.keys() if not name.endswith(_COUNT))
    unexpected = sorted(name for name in weights.keys() - own.keys() if not name.endswith(_COUNT))
    other = sorted(n for n in own.keys() & weights.keys() if own[n].shape != weights[n].shape)
    problems = [
        f"{len(names)} {what} ({', '.join(names[:_NAMED])}{', …' * (len(names) > _NAMED)})"
        for names, what in (
            (missing, "missing"),
            (unexpected, "unexpected"),
            (other, "of another shape"),
        )
        if names
    ]
    if other:
        first = other[0]
        problems.append(f"{first} is {_size(weights[first])} instead of {_size(own[first])}")
    if problems:
        raise OnwardError(
            f"expected the weights of {of} in {path}, found {'; '.join(problems)}. Is it the file "
            "of another network?"
        )


def _size(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "a number"


def _renamed(name: str) -> str:
    number, dot, rest = name.partition(".")
    return f"{_NUMBERED.get(number, number)}{dot}{rest}"


def _safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise OnwardError(
            f"expected a file of tensors, found {path}, which is damaged or holds something else: "
            f"{error}"
        ) from error
