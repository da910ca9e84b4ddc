"""A model inside another one, which does some of its work in another way."""

from collections.abc import Mapping
from typing import Any

import torch

from onward.models.model import Model


class Wrapped:
    """Abstract: everything is the inner model's, but for what a subclass does otherwise."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not there yet while a copy is made
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __call__(self, inputs: Any) -> torch.Tensor:
        """Return the outputs."""
        return self.forward(inputs)

    def forward(self, inputs: Any) -> torch.Tensor:
        """Return the outputs."""
        raise NotImplementedError

    def teacher_copy(self, weights: Mapping[str, torch.Tensor], classes: int) -> Any:
        """Return a copy with earlier weights, inside a wrapper like this one."""
        return self._around(self.inner.teacher_copy(weights, classes))

    def _around(self, inner: Model) -> Any:
        """Return a wrapper like this one around another model."""
        raise NotImplementedError
