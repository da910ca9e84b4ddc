"""Faster R-CNNs: torchvision's with a feature pyramid, and small ones, on a CNN or on a Swin."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward.models.detector import Detector
from onward.models.pixels import ANY_IMAGES, IMAGENET
from onward.models.torchvision_loader import torchvision
from onward.models.weights import Weights, fit, read_weights

_PYRAMID = 256
_RESNET_WIDTHS, _SWIN_WIDTHS = (256, 512, 1024, 2048), (96, 192, 384, 768)
# Layers of a ResNet that are frozen where it starts from weights: the first two of five.
_FROZEN = ("conv1", "bn1", "layer1")
_PREDICTOR = "roi_heads.box_predictor."
# Files before torchvision 0.13 have convolutions without the layer around them.
_OLD_NAMES = (
    (re.compile(r"^(rpn\.head\.conv)\.(weight|bias)$"), r"\1.0.0.\2"),
    (re.compile(r"^(backbone\.fpn\.(?:inner|layer)_blocks\.\d)\.(weight|bias)$"), r"\1.0.\2"),
)
# Sides and aspect ratios of the anchors of small detectors.
_SIDES, _RATIOS = (10, 17, 28, 48), (0.65, 1.0, 1.7)
_CHANNELS, _GRID, _HIDDEN_DIM, _GROUPS = 64, 5, 128, 8
_SMALL_SWIN_WIDTHS = (24, 48, 96)


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
    # The part of ``backbone`` that a file of a classifier has weights for, what stands before their
    # names there, and the names of what belongs to the classifier alone.
    BODY, PREFIX = "body", ""
    CLASSIFIER: tuple[str, ...]

    def _parts(self, outputs: int) -> Any:
        return torchvision().models.detection.FasterRCNN(self._backbone(), outputs)

    def _load(self, net: Any, path: Path) -> None:
        weights, own = read_weights(path), net.state_dict()
        if any(name.startswith("backbone.") for name in weights):
            for old, new in _OLD_NAMES:
                weights = {old.sub(new, name): values for name, values in weights.items()}
            kept = {n: v for n, v in own.items() if n.startswith(_PREDICTOR) or n == "temperature"}
            named = {n: v for n, v in weights.items() if not n.startswith(_PREDICTOR)}
            fit(net, _as_own(named, own) | kept, path)
            return
        body = net.backbone.get_submodule(self.BODY)
        inner = {
            name.removeprefix(self.PREFIX): values
            for name, values in weights.items()
            if not name.startswith(self.CLASSIFIER)
        }
        fit(body, _as_own(inner, body.state_dict()), path)


class FasterRCNN(PyramidRCNN):
    """On a ResNet-50, as CLAD's baseline and two of its winners have it.

    From given weights its first two layers and all statistics stay as they are, as torchvision
    has it; from scratch everything is learned.
    """

    NAME = "Faster R-CNN"
    CLASSIFIER = ("fc.",)

    def _backbone(self) -> nn.Module:
        vision = torchvision()
        given = self._weights is not None
        norm = vision.ops.FrozenBatchNorm2d if given else nn.BatchNorm2d
        resnet = vision.models.resnet50(norm_layer=norm)
        if given:
            for name, parameter in resnet.named_parameters():
                parameter.requires_grad_(not name.startswith(_FROZEN))
        layers = {f"layer{number + 1}": str(number) for number in range(len(_RESNET_WIDTHS))}
        make = vision.models.detection.backbone_utils.BackboneWithFPN
        made: nn.Module = make(resnet, layers, _RESNET_WIDTHS, _PYRAMID)
        return made


class FasterRCNNSwin(PyramidRCNN):
    """On a Swin-T; CLAD's first winner has a larger one, below a Cascade R-CNN."""

    NAME = "Faster R-CNN on Swin-T"
    BODY, PREFIX = "stages.body", "features."
    CLASSIFIER = ("head.", "norm.")

    def _backbone(self) -> nn.Module:
        return SwinPyramid(SwinMaps(_SWIN_WIDTHS, (2, 2, 6, 2), (3, 6, 12, 24), window=7))


class SwinPyramid(nn.Module):
    """A feature pyramid on the stages of a transformer, as torchvision has it on a ResNet's."""

    def __init__(self, stages: "SwinMaps") -> None:
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


class SwinMaps(nn.Module):
    """A Swin transformer as the body of a detector: the maps of some of its stages, normalized.

    It has no stochastic depth, so that two runs compute the same. Its stages lie at every other
    place of torchvision's list of layers, each behind what makes the map coarser.

    Each stage has its number of channels, layers and heads; `window` is the side of the windows of
    attention, and `first` the first stage whose map is returned.

    References
    ----------
    Liu et al., Swin Transformer, ICCV 2021.
    """

    def __init__(
        self,
        widths: Sequence[int],
        depths: Sequence[int],
        heads: Sequence[int],
        window: int,
        *,
        first: int = 0,
    ) -> None:
        super().__init__()
        made: Any = torchvision().models.SwinTransformer(
            patch_size=[4, 4],
            embed_dim=widths[0],
            depths=[*depths],
            num_heads=[*heads],
            window_size=[window, window],
            stochastic_depth_prob=0.0,
            num_classes=1,
        )
        self.body = made.features
        self._first = first
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in widths[first:])

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return a map for each stage, the finest first."""
        maps = [images]
        for layer in self.body:
            maps.append(layer(maps[-1]))
        stages = zip(self.norms, maps[2::2][self._first :], strict=True)
        # Transformers have channels last.
        return [norm(stage).permute(0, 3, 1, 2) for norm, stage in stages]


class SmallDetector(Detector):
    """Abstract: one map with a stride of 8 pixels, to which a map with a stride of 16 is added.

    40 of 150 proposals are classified. A CPU trains it within minutes on frames of 192 x 108.
    """

    SCALE = ANY_IMAGES
    STRIDE = 16

    def _parts(self, outputs: int) -> Any:
        vision = torchvision()
        detection = vision.models.detection
        return detection.FasterRCNN(
            self._backbone(),
            rpn_anchor_generator=detection.rpn.AnchorGenerator((_SIDES,), (_RATIOS,)),
            rpn_pre_nms_top_n_train=150,
            rpn_pre_nms_top_n_test=150,
            rpn_post_nms_top_n_train=40,
            rpn_post_nms_top_n_test=40,
            rpn_batch_size_per_image=64,
            box_roi_pool=vision.ops.MultiScaleRoIAlign(["0"], _GRID, 2),
            box_head=detection.faster_rcnn.TwoMLPHead(_CHANNELS * _GRID**2, _HIDDEN_DIM),
            box_predictor=detection.faster_rcnn.FastRCNNPredictor(_HIDDEN_DIM, outputs),
            box_batch_size_per_image=32,
        )


class SmallRCNN(SmallDetector):
    """On six convolutions with group normalization, 16 to 96 channels wide: 525,000 weights."""

    NAME = "the small R-CNN"

    def _backbone(self) -> nn.Module:
        return OneMap(Convolutions(), (64, 96))


class SmallSwin(SmallDetector):
    """The same on a Swin transformer of three stages, two layers each: as many weights."""

    NAME = "the small Swin R-CNN"

    def _backbone(self) -> nn.Module:
        stages = SwinMaps(_SMALL_SWIN_WIDTHS, (2, 2, 2), (2, 4, 8), window=4, first=1)
        return OneMap(stages, _SMALL_SWIN_WIDTHS[1:])


class OneMap(nn.Module):
    """A fine map and a coarse one, added up."""

    def __init__(self, stages: nn.Module, widths: tuple[int, int]) -> None:
        super().__init__()
        self.stages = stages
        self.laterals = nn.ModuleList(nn.Conv2d(width, _CHANNELS, 1) for width in widths)
        self.smooth = _convolution(_CHANNELS, _CHANNELS)
        self.out_channels = _CHANNELS

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the one map, under the name that torchvision gives it."""
        maps = zip(self.laterals, self.stages(images), strict=True)
        fine, coarse = (lateral(seen) for lateral, seen in maps)
        return {"0": self.smooth(fine + functional.interpolate(coarse, fine.shape[2:]))}


class Convolutions(nn.Module):
    """Returns a map with a stride of 8 pixels, and one of 16."""

    def __init__(self) -> None:
        super().__init__()
        fine = ((3, 16, 2), (16, 48, 2), (48, 64, 2), (64, 64, 1))
        self.fine = nn.Sequential(*(_convolution(*sizes) for sizes in fine))
        self.coarse = nn.Sequential(_convolution(64, 96, 2), _convolution(96, 96))

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return both maps."""
        fine = self.fine(images)
        return [fine, self.coarse(fine)]


def _convolution(before: int, width: int, stride: int = 1) -> nn.Module:
    convolution = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(_GROUPS, width), nn.ReLU())


def _as_own(weights: Weights, own: Weights) -> Weights:
    """Return weights in the dtypes of a network, since indices are read as floats.

    How many batches a statistic is made of is left out where statistics are fixed.
    """
    return {
        name: values.to(own[name].dtype) if name in own else values
        for name, values in weights.items()
        if name in own or not name.endswith("num_batches_tracked")
    }
