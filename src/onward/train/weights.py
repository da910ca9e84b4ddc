"""Weights by name, apart from the model that they came from, and their moving average."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

    Weights = dict[str, Tensor]


def copied(model: "Model") -> "Weights":
    """Return copies of a model's parameters."""
    return detached(dict(model.named_parameters()))


def detached(parameters: "Mapping[str, Tensor]") -> "Weights":
    """Return copies of parameters, without their graph."""
    return {name: parameter.detach().clone() for name, parameter in parameters.items()}


def snapshot(model: "Model") -> "Weights":
    """Return a copy of a model's state dict: its parameters and its buffers."""
    return {name: values.clone() for name, values in model.state_dict().items()}


def gradients(model: "Model") -> "Weights":
    """Return the gradients that are set on a model's parameters, themselves and no copies."""
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def fitted_to(model: "Model", old: "Mapping[str, Tensor]") -> "Weights":
    """Return tensors of a model's earlier parameters in their present shapes: see `fitted`."""
    return fitted(old, dict(model.named_parameters()))


def fitted(old: "Mapping[str, Tensor]", parameters: "Mapping[str, Tensor]") -> "Weights":
    """Return copies of old tensors in the parameters' shapes, zeros where these have grown since.

    Only a head grows, at the end of its first axis; all other shapes stay.
    """
    found = {}
    for name, parameter in parameters.items():
        found[name] = parameter.new_zeros(parameter.shape)
        if name in old:
            found[name][slice(len(old[name])) if parameter.ndim else ...] = old[name]
    return found


class WeightAverage:
    """An exponential moving average of a model's weights, to predict with.

    Each step keeps `decay` of the average, which begins with the model's weights. What is no float
    is not averaged: it is the last value. `state` is an earlier average to continue with; rows that
    the model has gained since are the model's.
    """

    def __init__(
        self, model: "Model", decay: float, state: "Mapping[str, Tensor] | None" = None
    ) -> None:
        from torch.optim.swa_utils import get_ema_multi_avg_fn  # torch, when it is needed

        self.weights = snapshot(model)
        self._update = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        for name, before in (state or {}).items():
            self.weights[name][slice(len(before)) if before.ndim else ...] = before

    def update(self, model: "Model") -> None:
        """Add the model's weights of now."""
        now = model.state_dict()
        floats = [name for name, values in self.weights.items() if values.is_floating_point()]
        self._update([self.weights[n] for n in floats], [now[n] for n in floats], 0)
        for name in self.weights.keys() - set(floats):
            self.weights[name].copy_(now[name])

    @contextmanager
    def applied(self, model: "Model") -> Iterator[None]:
        """Give the model the averaged weights for as long as the context lasts."""
        from onward.models.model import set_weights  # torch, when it is needed

        last = snapshot(model)
        set_weights(model, self.weights)
        try:
            yield
        finally:
            set_weights(model, last)
