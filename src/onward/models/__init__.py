"""Models for the gradient learner."""

from collections.abc import Callable, Mapping

import torch

from onward.models.linear import LinearProbe
from onward.models.mlp import MLP
from onward.models.model import Model
from onward.models.resnet18 import ResNet18

Build = Callable[[tuple[int, ...], int, torch.Generator], Model]

MODELS: Mapping[str, Build] = {"linear": LinearProbe, "mlp": MLP, "resnet18": ResNet18}

__all__ = ["MODELS", "Model"]
