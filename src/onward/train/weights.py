"""Weights by name, kept apart from the model that they came from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

    Weights = dict[str, Tensor]


def copied(model: "Model") -> "Weights":
    """Return copies of a model's parameters."""
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def snapshot(model: "Model") -> "Weights":
    """Return a copy of a model's state dict: its parameters and its buffers."""
    return {name: values.clone() for name, values in model.state_dict().items()}


def gradients(model: "Model") -> "Weights":
    """Return the gradients that are set on a model's parameters, themselves and no copies."""
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def fitted_to(model: "Model", kept: "Mapping[str, Tensor]") -> "Weights":
    """Return what was kept of a model's parameters, in their present shapes: see `fitted`."""
    return fitted(kept, dict(model.named_parameters()))


def fitted(kept: "Mapping[str, Tensor]", parameters: "Mapping[str, Tensor]") -> "Weights":
    """Return tensors of the parameters' shapes: what was kept, zeros where they have grown since.

    Only a head grows, at the end of its first axis; all other shapes stay.
    """
    return {name: grown(kept.get(name), parameter) for name, parameter in parameters.items()}


def grown(kept: "Tensor | None", parameter: "Tensor") -> "Tensor":
    """Return a tensor of the parameter's shape, which begins with what was kept."""
    if kept is not None and kept.shape == parameter.shape:
        return kept.to(parameter.device, copy=True)
    larger = parameter.new_zeros(parameter.shape)
    if kept is not None:
        larger[: len(kept)] = kept
    return larger
