"""The reduced ResNet-32 of IIRC, for images of 32 pixels."""

from functools import partial
from itertools import pairwise

import torch
from torch import nn
from torch.nn.functional import relu

from onward.models.classifier import image_classifier
from onward.models.shared import init_convolutions

_STAGES, _BLOCKS = (16, 32, 64), 5
_CIFAR100 = ((0.5071, 0.4866, 0.4409), (0.2009, 0.1984, 0.2023))


class _Block(nn.Module):
    """Two convolutions and a shortcut, without the ReLU after their sum."""

    def __init__(self, before: int, width: int) -> None:
        super().__init__()
        stride = 1 if before == width else 2
        self.conv1 = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential()
        if before != width:
            convolution = nn.Conv2d(before, width, 1, stride, bias=False)
            self.shortcut.extend([convolution, nn.BatchNorm2d(width)])

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found = self.bn2(self.conv2(relu(self.bn1(self.conv1(images)))))
        sums: torch.Tensor = found + self.shortcut(images)
        return sums


class _Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        widths = [_STAGES[0], *(width for width in _STAGES for _ in range(_BLOCKS))]
        self.conv1 = nn.Conv2d(3, widths[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        self.blocks = nn.Sequential(*(_Block(*pair) for pair in pairwise(widths)))
        init_convolutions(self, "fan_in")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.bn1(self.conv1(images))
        for block in self.blocks:
            found = block(relu(found))
        return found.mean((2, 3))


resnet32 = partial(image_classifier, _Backbone, name="ResNet-32", scale=_CIFAR100, normal=True)
"""Make IIRC's ResNet-32: three stages of five blocks, 16, 32 and 64 channels wide.

Where the shape changes, the shortcut is a convolution of one pixel. The last block ends without
a ReLU, so that features have both signs.

References
----------
He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016; as in
Abdelsalam et al., IIRC, CVPR 2021.
"""
