"""Small Faster R-CNNs, which a processor trains within minutes on frames of 192 x 108 pixels."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward.models.detector import Detector
from onward.models.pixels import ANY_IMAGES
from onward.models.swin_maps import SwinMaps
from onward.models.torchvision_loader import torchvision

# Sides and proportions of the boxes that proposals start from.
_SIDES, _PROPORTIONS = (10, 17, 28, 48), (0.65, 1.0, 1.7)
_CHANNELS, _GRID, _HIDDEN, _GROUPS = 64, 5, 128, 8
_SWIN_WIDTHS = (24, 48, 96)


class SmallDetector(Detector):
    """Abstract: one map of 8 pixels a place, with what is seen at 16 pixels added to it.

    Of 150 proposals 40 are looked at.
    """

    SCALE = ANY_IMAGES
    STRIDE = 16

    def _stages(self) -> tuple[nn.Module, tuple[int, int]]:
        """Make what gives two maps, of 8 and of 16 pixels a place, and say how wide they are."""
        raise NotImplementedError

    def _parts(self, outputs: int) -> Any:
        vision = torchvision()
        detection = vision.models.detection
        backbone = OneMap(*self._stages())
        return detection.FasterRCNN(
            backbone,
            rpn_anchor_generator=detection.rpn.AnchorGenerator((_SIDES,), (_PROPORTIONS,)),
            rpn_pre_nms_top_n_train=150,
            rpn_pre_nms_top_n_test=150,
            rpn_post_nms_top_n_train=40,
            rpn_post_nms_top_n_test=40,
            rpn_batch_size_per_image=64,
            box_roi_pool=vision.ops.MultiScaleRoIAlign(["0"], _GRID, 2),
            box_head=detection.faster_rcnn.TwoMLPHead(_CHANNELS * _GRID**2, _HIDDEN),
            box_predictor=detection.faster_rcnn.FastRCNNPredictor(_HIDDEN, outputs),
            box_batch_size_per_image=32,
        )


class SmallRCNN(SmallDetector):
    """On six convolutions with group normalisation, 16 to 96 channels wide: 525,000 weights."""

    NAME = "the small R-CNN"

    def _stages(self) -> tuple[nn.Module, tuple[int, int]]:
        return Convolutions(), (64, 96)


class SmallSwin(SmallDetector):
    """The same on a Swin transformer of three stages, two layers each: as many weights."""

    NAME = "the small Swin R-CNN"

    def _stages(self) -> tuple[nn.Module, tuple[int, int]]:
        return SwinMaps(_SWIN_WIDTHS, (2, 2, 2), (2, 4, 8), window=4, first=1), _SWIN_WIDTHS[1:]


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
        fine, coarse = (
            lateral(seen) for lateral, seen in zip(self.laterals, self.stages(images), strict=True)
        )
        return {"0": self.smooth(fine + functional.interpolate(coarse, fine.shape[2:]))}


class Convolutions(nn.Module):
    """A map of 8 pixels a place, and one of 16."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(
            _convolution(3, 16, 2),
            _convolution(16, 48, 2),
            _convolution(48, 64, 2),
            _convolution(64, 64),
        )
        self.coarse = nn.Sequential(_convolution(64, 96, 2), _convolution(96, 96))

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return both."""
        fine = self.fine(images)
        return [fine, self.coarse(fine)]


def _convolution(before: int, width: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(before, width, 3, stride, padding=1, bias=False),
        nn.GroupNorm(_GROUPS, width),
        nn.ReLU(),
    )
