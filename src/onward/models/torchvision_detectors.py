"""torchvision's Faster R-CNN with a feature pyramid, on a ResNet-50 or on a Swin transformer."""

import re
from pathlib import Path
from typing import Any

import torch
from torch import nn

from onward.models.checkpoints import fit, read_weights
from onward.models.detector import Detector
from onward.models.pixels import IMAGENET
from onward.models.swin_maps import SwinMaps
from onward.models.torchvision_loader import torchvision

_PYRAMID = 256
_RESNET_WIDTHS, _SWIN_WIDTHS = (256, 512, 1024, 2048), (96, 192, 384, 768)
# How many layers of a ResNet are learned where it starts from weights: the last three of five.
_STILL = ("conv1", "bn1", "layer1")
_PREDICTOR = "roi_heads.box_predictor."
# Files before torchvision 0.13 have convolutions without the layer around them.
_OLD_NAMES = (
    (re.compile(r"^(rpn\.head\.conv)\.(weight|bias)$"), r"\1.0.0.\2"),
    (re.compile(r"^(backbone\.fpn\.(?:inner|layer)_blocks\.\d)\.(weight|bias)$"), r"\1.0.\2"),
)


class PyramidRCNN(Detector):
    """Abstract: images are scaled to 800 pixels, and seen at five scales.

    A file with weights holds a whole detector, whose last layer is left out since it has other
    classes, or the backbone alone, as trained on ImageNet.

    References
    ----------
    Ren, He, Girshick and Sun, Faster R-CNN, NeurIPS 2015; Lin et al., Feature Pyramid Networks for
    Object Detection, CVPR 2017.
    """

    SCALE = IMAGENET
    SIDE = 800
    STRIDE = 32
    # Names in a file that belong to the classifier of a backbone, and not to its maps.
    TOP: tuple[str, ...]

    def _backbone(self) -> nn.Module:
        """Make what turns images into five maps."""
        raise NotImplementedError

    def _parts(self, outputs: int) -> Any:
        return torchvision().models.detection.FasterRCNN(self._backbone(), outputs)

    def _body(self, net: Any) -> nn.Module:
        """Return the part of a detector that a file of a backbone has weights for."""
        found: nn.Module = net.backbone.body
        return found

    def _load(self, net: nn.Module, path: Path) -> None:
        weights = read_weights(path)
        own = net.state_dict()
        if any(name.startswith("backbone.") for name in weights):
            named = {_new_name(name): values for name, values in weights.items()}
            kept = {n: v for n, v in own.items() if n.startswith(_PREDICTOR) or n == "temperature"}
            named = {n: v for n, v in named.items() if not n.startswith(_PREDICTOR)}
            fit(net, _as_own(named, own) | kept, path)
            return
        body = self._body(net)
        inner = {n: v for n, v in weights.items() if not n.startswith(self.TOP)}
        fit(body, _as_own(self._inner(inner), body.state_dict()), path)

    def _inner(self, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return weights


class FasterRCNN(PyramidRCNN):
    """On a ResNet-50, as CLAD's baseline and two of its winners have it.

    From given weights its first two layers and all statistics stay as they are, as torchvision
    has it; from scratch everything is learned.
    """

    NAME = "Faster R-CNN"
    TOP = ("fc.",)

    def _backbone(self) -> nn.Module:
        vision = torchvision()
        given = self._weights is not None
        norm = vision.ops.FrozenBatchNorm2d if given else nn.BatchNorm2d
        resnet = vision.models.resnet50(norm_layer=norm)
        if given:
            for name, parameter in resnet.named_parameters():
                parameter.requires_grad_(not name.startswith(_STILL))
        made: nn.Module = vision.models.detection.backbone_utils.BackboneWithFPN(
            resnet,
            {f"layer{number + 1}": str(number) for number in range(len(_RESNET_WIDTHS))},
            _RESNET_WIDTHS,
            _PYRAMID,
        )
        return made


class FasterRCNNSwin(PyramidRCNN):
    """On a Swin-T; CLAD's first winner has a larger one, below a Cascade R-CNN."""

    NAME = "Faster R-CNN on Swin-T"
    TOP = ("head.", "norm.")

    def _backbone(self) -> nn.Module:
        return SwinPyramid(SwinMaps(_SWIN_WIDTHS, (2, 2, 6, 2), (3, 6, 12, 24), window=7))

    def _body(self, net: Any) -> nn.Module:
        found: nn.Module = net.backbone.stages.body
        return found

    def _inner(self, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        prefix = "features."
        return {name.removeprefix(prefix): values for name, values in weights.items()}


class SwinPyramid(nn.Module):
    """A feature pyramid on the stages of a transformer, as torchvision has it on a ResNet's."""

    def __init__(self, stages: SwinMaps) -> None:
        super().__init__()
        pyramid = torchvision().ops.feature_pyramid_network
        self.stages = stages
        self.fpn = pyramid.FeaturePyramidNetwork(
            [*_SWIN_WIDTHS], _PYRAMID, extra_blocks=pyramid.LastLevelMaxPool()
        )
        self.out_channels = _PYRAMID

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return five maps, the finest first."""
        stages = {str(number): seen for number, seen in enumerate(self.stages(images))}
        maps: dict[str, torch.Tensor] = self.fpn(stages)
        return maps


def _new_name(name: str) -> str:
    for old, new in _OLD_NAMES:
        name = old.sub(new, name)
    return name


def _as_own(
    weights: dict[str, torch.Tensor], own: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Return weights in the number types of a network: indices are read as numbers.

    How many batches a statistic is made of is left out where statistics are fixed.
    """
    return {
        name: values.to(own[name].dtype) if name in own else values
        for name, values in weights.items()
        if name in own or not name.endswith("num_batches_tracked")
    }
