"""A small network of five convolutions, for images of 32 pixels."""

import itertools

from torch import nn

from onward.models.network import Network
from onward.models.pixels import ANY_IMAGES

_WIDTHS = (3, 16, 32, 64, 96, 96)
_STRIDES = (1, 2, 2, 2, 1)


class ConvNet(Network):
    """Five convolutions with batch normalisation, 16 to 96 channels wide: 163,000 weights.

    What a processor trains online within seconds.
    """

    NAME = "ConvNet"
    FEATURES = _WIDTHS[-1]
    SCALE = ANY_IMAGES

    def _body(self) -> nn.Module:
        layers: list[nn.Module] = []
        for (before, width), stride in zip(itertools.pairwise(_WIDTHS), _STRIDES, strict=True):
            layers += [
                nn.Conv2d(before, width, 3, stride, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
            ]
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
