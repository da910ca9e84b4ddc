"""Encoders: networks without a head, which turn images into features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onward.errors import unknown
from onward.models.torchvision_loader import torchvision

# Of ImageNet's photos; every published backbone but CLIP's expects pixels on this scale.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Encoder(nn.Module):
    """A residual network that is read at one or more of its stages.

    Pixels between 0 and 1 go in. While an encoder learns, it is read as the mean over its last
    map, as in the papers. What a probe reads are maps averaged over a grid of fields: one field
    of the last map is the usual pooled feature.

    Parameters
    ----------
    trunk
        The network; its weights keep the names that they have there.
    stages
        Runs the trunk on pixels of unit scale and returns the maps that can be read.
    grids
        How many fields each of these maps has along an edge; 0 leaves a map out.
    """

    def __init__(
        self,
        trunk: nn.Module,
        stages: Callable[[nn.Module, Tensor], Sequence[Tensor]],
        grids: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.trunk = trunk
        self._stages, self._grids = stages, grids

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the mean over the last map."""
        return self._maps(pixels)[-1].mean((2, 3))

    def features(self, pixels: Tensor) -> Tensor:
        """Return what a probe reads."""
        maps = zip(self._maps(pixels), self._grids, strict=True)
        read = [nn.functional.adaptive_avg_pool2d(one, grid) for one, grid in maps if grid]
        return torch.cat([fields.flatten(1) for fields in read], 1)

    def _maps(self, pixels: Tensor) -> Sequence[Tensor]:
        mean, deviation = (pixels.new_tensor(v).view(3, 1, 1) for v in (MEAN, DEVIATION))
        return self._stages(self.trunk, (pixels - mean) / deviation)


class SmallResNet(nn.Module):
    """A residual network for small images: one block a stage, and few channels.

    Parameters
    ----------
    widths
        The channels of each stage; every stage but the first halves the side of its map.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.stem = nn.Sequential(*_convolution(3, widths[0], 3, stride=2), nn.ReLU())
        pairs = zip([widths[0], *widths], widths, strict=False)
        self.stages = nn.ModuleList(
            _Block(before, after, stride=2 if number else 1)
            for number, (before, after) in enumerate(pairs)
        )

    def forward(self, pixels: Tensor) -> list[Tensor]:
        """Return the map of every stage."""
        found = [self.stem(pixels)]
        for stage in self.stages:
            found.append(stage(found[-1]))
        return found[1:]


class _Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        same = before == after and stride == 1
        self.inner = nn.Sequential(
            *_convolution(before, after, 3, stride), nn.ReLU(), *_convolution(after, after, 3)
        )
        self.past = nn.Sequential(*([] if same else _convolution(before, after, 1, stride)))

    def forward(self, inputs: Tensor) -> Tensor:
        return nn.functional.relu(self.inner(inputs) + self.past(inputs))


def _convolution(before: int, after: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(after)]


@dataclass(frozen=True)
class Architecture:
    """How an encoder is built, the width of its last map, and what a probe reads."""

    trunk: Callable[[], nn.Module]
    stages: Callable[[nn.Module, Tensor], Sequence[Tensor]]
    width: int
    grids: tuple[int, ...]


def _resnet(depth: int) -> nn.Module:
    """Build torchvision's ResNet without its last layer."""
    made: nn.Module = getattr(torchvision().models, f"resnet{depth}")(weights=None)
    made.fc = nn.Identity()
    return made


def _resnet_stages(trunk: nn.Module, pixels: Tensor) -> list[Tensor]:
    for name in ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4"):
        pixels = getattr(trunk, name)(pixels)
    return [pixels]


def _small_stages(trunk: nn.Module, pixels: Tensor) -> Sequence[Tensor]:
    found: Sequence[Tensor] = trunk(pixels)
    return found


_SMALL = (32, 64, 128, 256)
ENCODERS: Mapping[str, Architecture] = {
    "small": Architecture(lambda: SmallResNet(_SMALL), _small_stages, _SMALL[-1], (0, 4, 2, 1)),
    "resnet18": Architecture(lambda: _resnet(18), _resnet_stages, 512, (1,)),
    "resnet50": Architecture(lambda: _resnet(50), _resnet_stages, 2048, (1,)),
}


def build_encoder(name: str, seed: int = 0) -> Encoder:
    """Build an encoder with random weights.

    Parameters
    ----------
    name
        One of `ENCODERS`.
    seed
        Draws the weights; the generator that all torch programs share is left as it was.

    Examples
    --------
    >>> encoder = build_encoder("small")
    >>> [tuple(f(torch.zeros(2, 3, 32, 32)).shape) for f in (encoder, encoder.features)]
    [(2, 256), (2, 1792)]
    """
    if name not in ENCODERS:
        raise unknown("encoder", name, ENCODERS, "docs/pretraining.md")
    architecture = ENCODERS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Encoder(architecture.trunk(), architecture.stages, architecture.grids)
