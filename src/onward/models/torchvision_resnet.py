"""torchvision's residual networks."""

from functools import partial
from typing import Any

import torch
from torch import nn

from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision


def resnet(
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    depth: int,
    **options: Any,
) -> Classifier:
    """Make a ResNet of torchvision's, with its initialization, for bytes of images.

    Eighteen layers are what CLEAR trains, fifty what IIRC trains on ImageNet.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """
    make = partial(resnet_backbone, f"resnet{depth}")
    return image_classifier(
        make, shape, classes, generator, name=f"ResNet-{depth}", scale=IMAGENET, **options
    )


def resnet_backbone(name: str) -> nn.Module:
    """Return a ResNet of torchvision's without its last layer."""
    backbone: Any = getattr(torchvision().models, name)()
    backbone.fc = nn.Identity()
    made: nn.Module = backbone
    return made
