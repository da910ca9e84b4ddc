"""torchvision's residual networks, trained from scratch on images."""

from functools import partial
from typing import Any

import torch
from torch import nn

from onward.models.network import Network
from onward.models.torchvision_loader import torchvision

# Of ImageNet, per colour.
_SCALE = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


class ResNet18(Network):
    """Eighteen layers, as CLEAR trains them.

    Parameters
    ----------
    shape
        The shape of one image: height, width, 3.
    classes
        The number of classes to begin with.
    generator
        Draws the weights as torchvision does.
    head
        The last layer: ``linear`` or ``cosine``.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """

    NAME = "ResNet-18"

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
    ) -> None:
        body = partial(_trunk, "resnet18")
        super().__init__(body, 512, shape, classes, generator, head=head, scale=_SCALE)


class ResNet50(Network):
    """Fifty layers, as IIRC trains them on ImageNet.

    Parameters
    ----------
    shape, classes, generator, head
        As those of `ResNet18`.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """

    NAME = "ResNet-50"

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
    ) -> None:
        body = partial(_trunk, "resnet50")
        super().__init__(body, 2048, shape, classes, generator, head=head, scale=_SCALE)


def _trunk(name: str) -> nn.Module:
    net: Any = getattr(torchvision().models, name)()
    net.fc = nn.Identity()
    made: nn.Module = net
    return made
