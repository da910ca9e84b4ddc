"""A small network of five convolutions, for images of 32 pixels."""

import itertools
from typing import Any

import torch
from torch import nn

from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import ANY_IMAGES
from onward.models.shared import init_convolutions

_WIDTHS = (3, 16, 32, 64, 96, 96)
_STRIDES = (1, 2, 2, 2, 1)


def convnet(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, **options: Any
) -> Classifier:
    """Make five convolutions with batch normalization, 16 to 96 channels wide: 163,000 weights.

    A CPU trains it online within seconds.
    """
    return image_classifier(
        _backbone, shape, classes, generator, name="ConvNet", scale=ANY_IMAGES, **options
    )


def _backbone() -> nn.Module:
    layers: list[nn.Module] = []
    for (before, width), stride in zip(itertools.pairwise(_WIDTHS), _STRIDES, strict=True):
        layers += [
            nn.Conv2d(before, width, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
    backbone = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    init_convolutions(backbone, "fan_out")
    return backbone
