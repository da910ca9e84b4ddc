"""Models for the gradient learner."""

from collections.abc import Callable, Mapping
from functools import partial

import torch

from onward.models.clip import Clip
from onward.models.clip_config import CONFIGS
from onward.models.convnet import ConvNet
from onward.models.heads import make_head
from onward.models.mlp import MLP
from onward.models.model import Model
from onward.models.resnet32 import ResNet32
from onward.models.resnet50d import ResNet50D
from onward.models.small_detectors import SmallRCNN, SmallSwin
from onward.models.torchvision_detectors import FasterRCNN, FasterRCNNSwin
from onward.models.torchvision_resnet import ResNet18, ResNet50


def linear(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, *, head: str = "linear"
) -> Model:
    """Make a model that is a head and nothing else."""
    return make_head(head, shape, classes, generator)


MODELS: Mapping[str, Callable[..., Model]] = {
    "linear": linear,
    "mlp": MLP,
    **{name: partial(Clip, config=config) for name, config in CONFIGS.items()},
    "convnet": ConvNet,
    "resnet18": ResNet18,
    "resnet32": ResNet32,
    "resnet50": ResNet50,
    "resnet50d": ResNet50D,
    "faster_rcnn": FasterRCNN,
    "faster_rcnn_swin": FasterRCNNSwin,
    "small_rcnn": SmallRCNN,
    "small_swin": SmallSwin,
}
"""By name: called with the shape of an input, the number of classes, a generator and ``head=``."""

__all__ = ["MODELS", "Model"]
