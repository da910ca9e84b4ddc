"""ResNet-50-D: three small convolutions to begin with, and shortcuts that look at every pixel."""

import itertools
from typing import Any

from torch import nn

from onward.models.torchvision_resnet import ResNet50

_STEM = 32


class ResNet50D(ResNet50):
    """Fifty layers, with three changes that cost next to nothing.

    The first convolution of seven pixels is three of three; where a shortcut halves the picture,
    it takes the mean of four pixels before its convolution, which would skip three of them; and
    blocks halve it in their convolution of three pixels, as torchvision's already do.

    References
    ----------
    He, Zhang, Zhang, Zhang, Xie and Li, Bag of Tricks for Image Classification with Convolutional
    Neural Networks, CVPR 2019.
    """

    NAME = "ResNet-50-D"

    def _body(self) -> nn.Module:
        net: Any = super()._body()
        widths, layers = (3, _STEM, _STEM, net.conv1.out_channels), []
        for at, (before, width) in enumerate(itertools.pairwise(widths)):
            layers += [
                nn.Conv2d(before, width, 3, 1 if at else 2, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
            ]
        # The network goes on with the last normalisation and its ReLU.
        net.conv1 = nn.Sequential(*layers[:-2])
        for layer in (net.layer2, net.layer3, net.layer4):
            shortcut = layer[0].downsample
            convolution = shortcut[0]
            layer[0].downsample = nn.Sequential(
                nn.AvgPool2d(2, ceil_mode=True, count_include_pad=False),
                nn.Conv2d(convolution.in_channels, convolution.out_channels, 1, bias=False),
                shortcut[1],
            )
        made: nn.Module = net
        return made
