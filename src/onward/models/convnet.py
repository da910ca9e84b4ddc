"""A small network of five convolutions, for images of 32 pixels."""

from functools import partial

from torch import nn

from onward.models.classifier import image_classifier
from onward.models.pixels import ANY_IMAGES
from onward.models.shared import conv_norm_relu, init_convolutions


def _backbone() -> nn.Module:
    layers: list[nn.Module] = []
    for before, width, stride in (3, 16, 1), (16, 32, 2), (32, 64, 2), (64, 96, 2), (96, 96, 1):
        layers += conv_norm_relu(before, width, stride)
    backbone = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    init_convolutions(backbone, "fan_out")
    return backbone


convnet = partial(image_classifier, _backbone, name="ConvNet", scale=ANY_IMAGES)
"""Make five convolutions with batch normalization, 16 to 96 channels wide: 163,000 weights.

A CPU trains it online within seconds.
"""
