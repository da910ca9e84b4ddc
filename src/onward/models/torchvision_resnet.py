"""torchvision's residual networks, trained from scratch on images."""

from typing import Any

from torch import nn

from onward.models.network import Network
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision


class TorchvisionResNet(Network):
    """Abstract: weights are drawn as torchvision draws them.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """

    # What torchvision calls it.
    MADE: str
    SCALE = IMAGENET

    def _body(self) -> nn.Module:
        net: Any = getattr(torchvision().models, self.MADE)()
        net.fc = nn.Identity()
        made: nn.Module = net
        return made


class ResNet18(TorchvisionResNet):
    """Eighteen layers, as CLEAR trains them."""

    NAME, MADE = "ResNet-18", "resnet18"
    FEATURES = 512


class ResNet50(TorchvisionResNet):
    """Fifty layers, as IIRC trains them on ImageNet."""

    NAME, MADE = "ResNet-50", "resnet50"
    FEATURES = 2048
