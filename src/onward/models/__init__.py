"""Models for the gradient learner."""

from collections.abc import Callable, Mapping

import torch

from onward.models.linear import LinearProbe
from onward.models.model import Model

Build = Callable[[tuple[int, ...], int, torch.Generator], Model]

MODELS: Mapping[str, Build] = {"linear": LinearProbe}

__all__ = ["MODELS", "Model"]
