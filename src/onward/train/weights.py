"""Weights by name, apart from the model that they came from."""

from collections.abc import Mapping
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
        if name in old and old[name].shape == parameter.shape:
            found[name] = old[name].to(parameter.device, copy=True)
            continue
        found[name] = parameter.new_zeros(parameter.shape)
        if name in old:
            found[name][: len(old[name])] = old[name]
    return found
