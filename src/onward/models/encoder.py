"""Encoders: networks without a head, which turn images into features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from onward.errors import unknown
from onward.models.clip_config import open_clip, quietly
from onward.models.library_models import torchvision_backbone
from onward.models.pixels import IMAGENET, Scale, to_pixels
from onward.models.shared import conv_norm_relu
from onward.models.weights import fit, read_safetensors, read_weights, with_prefix_removed
from onward.models.weights_folder import WEIGHTS, read_card

# Layers of a ResNet that is a plain sequence of its parts.
_NUMBERED = {"0": "conv1", "1": "bn1", "4": "layer1", "5": "layer2", "6": "layer3", "7": "layer4"}


class Encoder(nn.Module):
    """A convolutional network that is read at one or more of its stages.

    Pixels between 0 and 1 go in. Maps are read as means over a grid of fields: one field of the
    last map is the usual pooled feature, more of them keep where something is.

    Parameters
    ----------
    trunk
        Returns the maps that can be read, or the means of the last one, of normalized pixels.
    grids
        How many fields each map has along an edge for a probe; 0 leaves a map out.
    """

    def __init__(self, trunk: nn.Module, grids: tuple[int, ...]) -> None:
        super().__init__()
        self.trunk, self._grids = trunk, grids

    def forward(self, pixels: Tensor) -> Tensor:
        """Return what a projection head reads: the means of the last map."""
        return functional.adaptive_avg_pool2d(self._maps(pixels)[-1], 1).flatten(1)

    def features(self, pixels: Tensor) -> Tensor:
        """Return what a probe reads."""
        maps = zip(self._maps(pixels), self._grids, strict=True)
        fields = [functional.adaptive_avg_pool2d(one, grid) for one, grid in maps if grid]
        return torch.cat([one.flatten(1) for one in fields], 1)

    def _maps(self, pixels: Tensor) -> Sequence[Tensor]:
        # Every published backbone but CLIP's expects pixels on this scale.
        found = self.trunk(_normalized(pixels, IMAGENET))
        return [found[..., None, None]] if isinstance(found, Tensor) else found


def _normalized(pixels: Tensor, scale: Scale) -> Tensor:
    mean, deviation = (pixels.new_tensor(values).view(3, 1, 1) for values in scale)
    return (pixels - mean) / deviation


class SmallNet(nn.Module):
    """Convolutions of these widths for small images, each of which halves the side."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Sequential(*conv_norm_relu(before, width, 2))
            for before, width in zip((3, *widths), widths, strict=False)
        )

    def forward(self, pixels: Tensor) -> list[Tensor]:
        """Return the map of every stage."""
        maps = [pixels]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        return maps[1:]


@dataclass(frozen=True)
class Architecture:
    """How an encoder is built and read, and how many numbers a projection head reads."""

    trunk: Callable[[], nn.Module]
    grids: tuple[int, ...]
    width: int


ENCODERS: Mapping[str, Architecture] = {
    "small": Architecture(lambda: SmallNet(32, 64, 128, 256), (0, 4, 2, 1), 256),
    "resnet18": Architecture(lambda: torchvision_backbone("resnet18", {}), (1,), 512),
    "resnet50": Architecture(lambda: torchvision_backbone("resnet50", {}), (1,), 2048),
}


def build_encoder(name: str, seed: int = 0) -> Encoder:
    """Build one of `ENCODERS` with random weights.

    The generator that all torch programs share is left as it was.

    Examples
    --------
    >>> encoder = build_encoder("small")
    >>> [tuple(f(torch.zeros(2, 3, 32, 32)).shape) for f in (encoder, encoder.features)]
    [(2, 256), (2, 1792)]
    """
    if name not in ENCODERS:
        raise unknown("encoder", name, ENCODERS, "docs/howto/pretraining.md")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return Encoder(ENCODERS[name].trunk(), ENCODERS[name].grids)


def embed(images: Tensor, network: Callable[[Tensor], Tensor], size: int) -> Tensor:
    """Return one row of features per image, computed on the device of the images.

    Images are bytes, see `to_pixels`, and are resized to `size` pixels a side. The network is to be
    in evaluation mode: no image's features then depend on the others.
    """
    pixels = to_pixels(images)
    if pixels.shape[-2:] != (size, size):
        pixels = functional.interpolate(
            pixels, (size, size), mode="bilinear", align_corners=False, antialias=True
        )
    with torch.no_grad():
        return network(pixels)


def _empty_encoder(name: str) -> Encoder:
    """Build an encoder whose weights are still to be given: drawing them would take longer."""
    with torch.device("meta"):
        return Encoder(ENCODERS[name].trunk(), ENCODERS[name].grids)


def pretrained_encoder(folder: Path) -> tuple[Encoder, int]:
    """Return an encoder that ``onward pretrain`` wrote, and the side of its images."""
    recipe = read_card(folder)["recipe"]
    encoder = _empty_encoder(recipe["encoder"])
    fit(encoder.trunk, read_safetensors(folder / WEIGHTS), folder / WEIGHTS)
    return encoder, recipe["image_size"]


def published_resnet50(path: Path, prefixes: Sequence[str]) -> Encoder:
    """Return a ResNet-50 with the weights of a file.

    Prefixes are what may stand in front of a layer's name, in order of preference. All names
    without the one that is found (a second encoder, a queue) and a last layer are left out.
    """
    weights = read_weights(path)
    for prefix in prefixes:
        inner = with_prefix_removed(prefix, weights)
        if "4.0.conv1.weight" in inner:
            inner = {_renamed(name): value for name, value in inner.items()}
        if "conv1.weight" in inner:
            break
    encoder = _empty_encoder("resnet50")
    fit(encoder.trunk, {n: v for n, v in inner.items() if not n.startswith("fc.")}, path)
    return encoder


def _renamed(name: str) -> str:
    number, dot, rest = name.partition(".")
    return f"{_NUMBERED.get(number, number)}{dot}{rest}"


class ProbeFeatures(nn.Module):
    """A network in evaluation mode, and the function that computes what a probe reads from it."""

    def __init__(self, network: nn.Module, features: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.network, self._features = network.eval(), features

    def forward(self, pixels: Tensor) -> Tensor:
        """Return one row of features per image, of pixels between 0 and 1."""
        return self._features(pixels)


def published_clip(path: Path) -> ProbeFeatures:
    """Return the image tower of CLIP's RN50 with the weights of a file: embeddings of length 1."""
    library = open_clip()
    with quietly():
        visual: nn.Module = library.create_model("RN50-quickgelu", pretrained=None).visual
    fit(visual, with_prefix_removed("visual.", read_weights(path)), path)
    scale = library.OPENAI_DATASET_MEAN, library.OPENAI_DATASET_STD
    return ProbeFeatures(
        visual, lambda pixels: functional.normalize(visual(_normalized(pixels, scale)), dim=1)
    )
