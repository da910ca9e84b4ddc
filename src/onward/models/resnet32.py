"""The reduced ResNet-32 of IIRC, for images of 32 pixels."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward.models.classifier import Classifier, image_classifier
from onward.models.shared import init_convolutions

_WIDTHS = (16, 32, 64)
_BLOCKS = 5
_CIFAR100 = ((0.5071, 0.4866, 0.4409), (0.2009, 0.1984, 0.2023))


def resnet32(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, **options: Any
) -> Classifier:
    """Make IIRC's ResNet-32: three stages of five blocks, 16, 32 and 64 channels wide.

    Where the shape changes, the shortcut is a convolution of one pixel. The last block ends without
    a ReLU, so that features have both signs.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016; as in
    Abdelsalam et al., IIRC, CVPR 2021.
    """
    return image_classifier(
        _Backbone,
        shape,
        classes,
        generator,
        name="ResNet-32",
        scale=_CIFAR100,
        normal=True,
        **options,
    )


class _Block(nn.Module):
    def __init__(self, before: int, width: int, stride: int, *, relu: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential()
        if before != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )
        self._relu = relu

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Add what two convolutions find to the images."""
        found = functional.relu(self.bn1(self.conv1(images)))
        found = self.bn2(self.conv2(found)) + self.shortcut(images)
        return functional.relu(found) if self._relu else found


class _Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, _WIDTHS[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(_WIDTHS[0])
        blocks, before = [], _WIDTHS[0]
        for width in _WIDTHS:
            for number in range(_BLOCKS):
                last = width == _WIDTHS[-1] and number == _BLOCKS - 1
                blocks.append(_Block(before, width, 1 if before == width else 2, relu=not last))
                before = width
        self.blocks = nn.Sequential(*blocks)
        init_convolutions(self, "fan_in")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return 64 features per image."""
        found: torch.Tensor = self.blocks(functional.relu(self.bn1(self.conv1(images))))
        return found.mean((2, 3))
