"""Batch normalization whose statistics are those of a batch that several processes share out.

On CUDA that is `torch.nn.SyncBatchNorm`, which torch has for no other device. On a CPU the function
that layers of batch normalization call is replaced while a step is computed: so it works for every
kind of layer, such as timm's that have an activation in them.
"""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from onward import distributed
from onward.collectives import AllReduce
from onward.models.model import to_full_precision

_ARGUMENTS = ("input", "running_mean", "running_var", "weight", "bias")
_OPTIONS = {"training": False, "momentum": 0.1, "eps": 1e-5}


def synchronize_batch_norm(model: nn.Module, device: torch.device) -> None:
    """Replace the layers of batch normalization below a module on CUDA by synchronized ones."""
    if device.type != "cuda":
        return
    for name, module in model.named_children():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and hasattr(module, "act"):
            # timm's, which keeps the activation.
            setattr(
                model, name, importlib.import_module("timm.layers").convert_sync_batchnorm(module)
            )
        elif isinstance(module, nn.modules.batchnorm._BatchNorm):
            convert: Any = nn.SyncBatchNorm.convert_sync_batchnorm
            setattr(model, name, convert(module))
        else:
            synchronize_batch_norm(module, device)


class SyncBatchNormMode(TorchFunctionMode):
    """A context in which batch normalization on a CPU uses the statistics of the whole batch."""

    def __torch_function__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch, or the synchronized one in its place."""
        options = dict(kwargs or {})
        if func is functional.batch_norm:
            named = {**_OPTIONS, **dict(zip((*_ARGUMENTS, *_OPTIONS), args, strict=False))}
            named |= options
            if named["training"] and named["input"].device.type != "cuda":
                return _synchronized(named)
        return func(*args, **options)


def _synchronized(given: Mapping[str, Any]) -> torch.Tensor:
    all_reduce: Any = AllReduce.apply
    before: torch.Tensor = given["input"]
    inputs = to_full_precision(before)
    axes = [0, *range(2, inputs.ndim)]
    shape = [1, -1, *[1] * (inputs.ndim - 2)]
    (count,) = distributed.all_reduce(inputs.new_tensor(inputs.numel() / inputs.shape[1]))
    mean = all_reduce(inputs.sum(axes)) / count
    centred = inputs - mean.view(shape)
    # Of the centred values: the difference of two large numbers would have few digits.
    variance = all_reduce(centred.square().sum(axes)) / count
    if given.get("running_mean") is not None:
        with torch.no_grad():
            momentum = given["momentum"]
            given["running_mean"].lerp_(mean.to(given["running_mean"].dtype), momentum)
            unbiased = variance * count / (count - 1)
            given["running_var"].lerp_(unbiased.to(given["running_var"].dtype), momentum)
    found: torch.Tensor = centred * (variance + given["eps"]).rsqrt().view(shape)
    if given.get("weight") is not None:
        found = found * given["weight"].view(shape) + given["bias"].view(shape)
    return found.to(before.dtype)
