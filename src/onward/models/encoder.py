"""Encoders: networks without a head, which turn images into features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onward.errors import unknown
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision


class Encoder(nn.Module):
    """A convolutional network that is read at one or more of its stages.

    Pixels between 0 and 1 go in. Maps are read as means over a grid of fields: one field of the
    last map is the usual pooled feature, more of them keep where something is.

    Parameters
    ----------
    trunk
        The network; its weights keep the names that they have there.
    stages
        Runs the trunk on pixels of unit scale and returns the maps that can be read.
    read
        How many fields each map has along an edge for a probe; 0 leaves a map out.
    """

    def __init__(
        self,
        trunk: nn.Module,
        stages: Callable[[nn.Module, Tensor], Sequence[Tensor]],
        read: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.trunk = trunk
        self._stages, self._read = stages, read

    def forward(self, pixels: Tensor) -> Tensor:
        """Return what a projection head reads: the means of the last map."""
        return _fields(self._maps(pixels)[-1], 1)

    def features(self, pixels: Tensor) -> Tensor:
        """Return what a probe reads."""
        maps = zip(self._maps(pixels), self._read, strict=True)
        return torch.cat([_fields(one, grid) for one, grid in maps if grid], 1)

    def _maps(self, pixels: Tensor) -> Sequence[Tensor]:
        # Every published backbone but CLIP's expects pixels on this scale.
        mean, deviation = (pixels.new_tensor(values).view(3, 1, 1) for values in IMAGENET)
        return self._stages(self.trunk, (pixels - mean) / deviation)


def _fields(one: Tensor, grid: int) -> Tensor:
    return nn.functional.adaptive_avg_pool2d(one, grid).flatten(1)


class SmallNet(nn.Module):
    """Convolutions of these widths for small images, each of which halves the side."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        before = (3, *widths)
        self.stages = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(fewer, more, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(more),
                nn.ReLU(),
            )
            for fewer, more in zip(before, widths, strict=False)
        )

    def forward(self, pixels: Tensor) -> list[Tensor]:
        """Return the map of every stage."""
        found = []
        for stage in self.stages:
            pixels = stage(pixels)
            found.append(pixels)
        return found


@dataclass(frozen=True)
class Architecture:
    """How an encoder is built and read, and how many numbers a projection head reads."""

    trunk: Callable[[], nn.Module]
    stages: Callable[[nn.Module, Tensor], Sequence[Tensor]]
    read: tuple[int, ...]
    width: int


def _resnet(depth: int) -> nn.Module:
    """Build torchvision's ResNet without its last layer."""
    made: nn.Module = getattr(torchvision().models, f"resnet{depth}")(weights=None)
    made.fc = nn.Identity()
    return made


def _last_map(trunk: nn.Module, pixels: Tensor) -> list[Tensor]:
    for name in ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4"):
        pixels = getattr(trunk, name)(pixels)
    return [pixels]


def _all_maps(trunk: nn.Module, pixels: Tensor) -> Sequence[Tensor]:
    found: Sequence[Tensor] = trunk(pixels)
    return found


ENCODERS: Mapping[str, Architecture] = {
    "small": Architecture(lambda: SmallNet((32, 64, 128, 256)), _all_maps, (0, 4, 2, 1), 256),
    "resnet18": Architecture(lambda: _resnet(18), _last_map, (1,), 512),
    "resnet50": Architecture(lambda: _resnet(50), _last_map, (1,), 2048),
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
        torch.manual_seed(seed)
        return _assembled(name)


def empty_encoder(name: str) -> Encoder:
    """Build an encoder whose weights are still to be given: drawing them would take longer."""
    with torch.device("meta"):
        return _assembled(name)


def _assembled(name: str) -> Encoder:
    made = ENCODERS[name]
    return Encoder(made.trunk(), made.stages, made.read)
