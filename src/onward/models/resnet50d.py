"""ResNet-50-D: three small convolutions to begin with, and shortcuts that look at every pixel."""

import itertools
from typing import Any

import torch
from torch import nn

from onward.models.checkpoints import Weights
from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.models.shared import init_convolutions
from onward.models.torchvision_resnet import resnet_backbone

_STEM = 32
_FIRST_SHORTCUT = "layer1.0.downsample."


def resnet50d(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, **options: Any
) -> Classifier:
    """Make ResNet-50-D: fifty layers, with three changes that cost next to nothing.

    The first convolution of seven pixels is three of three; where a shortcut halves the image,
    it takes the mean of four pixels before its convolution, which would skip three of them; and
    blocks halve it in their convolution of three pixels, as torchvision's already do.

    References
    ----------
    He, Zhang, Zhang, Zhang, Xie and Li, Bag of Tricks for Image Classification with Convolutional
    Neural Networks, CVPR 2019.
    """
    return image_classifier(
        _backbone,
        shape,
        classes,
        generator,
        name="ResNet-50-D",
        scale=IMAGENET,
        convert=_converted,
        **options,
    )


def _backbone() -> nn.Module:
    net: Any = resnet_backbone("resnet50")
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
    init_convolutions(net, "fan_out")
    made: nn.Module = net
    return made


def _converted(weights: Weights, backbone: nn.Module) -> Weights:
    """Return weights of timm's resnet50d under the names that they have here.

    In timm a layer that does nothing stands before the first shortcut's convolution.
    """
    if f"{_FIRST_SHORTCUT}2.weight" not in weights:
        return weights
    names = {f"{_FIRST_SHORTCUT}{number}.": f"{_FIRST_SHORTCUT}{number - 1}." for number in (1, 2)}
    return {
        next((n.replace(a, b, 1) for a, b in names.items() if n.startswith(a)), n): value
        for n, value in weights.items()
    }
