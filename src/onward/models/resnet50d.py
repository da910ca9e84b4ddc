"""ResNet-50-D: a stem of three small convolutions, and shortcuts that average before they halve."""

from functools import partial
from typing import Any

from torch import nn

from onward.models.classifier import image_classifier
from onward.models.library_models import torchvision_backbone
from onward.models.pixels import IMAGENET
from onward.models.shared import conv_norm_relu, init_convolutions
from onward.models.weights import Weights

_FIRST_SHORTCUT = "layer1.0.downsample."


def _backbone() -> nn.Module:
    net: Any = torchvision_backbone("resnet50", {})
    # The network continues with its own bn1 and ReLU.
    stem = *conv_norm_relu(3, 32, 2), *conv_norm_relu(32, 32)
    net.conv1 = nn.Sequential(*stem, nn.Conv2d(32, 64, 3, padding=1, bias=False))
    for layer in (net.layer2, net.layer3, net.layer4):
        convolution, norm = layer[0].downsample
        layer[0].downsample = nn.Sequential(
            nn.AvgPool2d(2, ceil_mode=True, count_include_pad=False),
            nn.Conv2d(convolution.in_channels, convolution.out_channels, 1, bias=False),
            norm,
        )
    init_convolutions(net, "fan_out")
    made: nn.Module = net
    return made


def _from_timm(weights: Weights, backbone: nn.Module) -> Weights:
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


resnet50d = partial(
    image_classifier, _backbone, name="ResNet-50-D", scale=IMAGENET, convert=_from_timm
)
"""Make ResNet-50-D: fifty layers, with three changes that cost next to nothing.

The first convolution of seven pixels is three of three; where a shortcut halves the image, it takes
the mean of four pixels before its convolution, which would skip three of them; and blocks halve it
in their convolution of three pixels, as torchvision's already do.

References
----------
He, Zhang, Zhang, Zhang, Xie and Li, Bag of Tricks for Image Classification with Convolutional
Neural Networks, CVPR 2019.
"""
