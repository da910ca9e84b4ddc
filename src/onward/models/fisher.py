"""The Fisher diagonal: the squared gradients of single samples."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from onward.models.classifier import Classifier
from onward.models.heads import LinearHead
from onward.models.model import Model
from onward.models.spread import Spread
from onward.models.wrapped import Wrapped

Loss = Callable[[Any, torch.Tensor], torch.Tensor]
"""Of outputs and targets of a batch, its mean loss."""
# Numbers in the gradients of the samples that are computed together.
_NUMBERS_AT_ONCE = 2**26


def fisher_diagonal(
    model: Any, inputs: torch.Tensor, targets: torch.Tensor, loss: Loss
) -> dict[str, torch.Tensor]:
    """Return, summed over samples, the square of what each sample adds to the gradient.

    Batch normalization is in evaluation mode: the gradient of a sample depends on no other sample.
    Where a loss compares the samples of a batch, as CLIP's does, the others are held fixed.

    Parameters
    ----------
    model
        Its parameters are what gradients are for; their ``.grad`` is left alone.
    inputs, targets
        The samples.
    loss
        The mean loss of a batch.
    """
    if isinstance(model, Spread):
        share = model.share(len(inputs))
        squares = fisher_diagonal(model.inner, inputs[share], targets[share], loss)
        summed = model.sum_over_ranks([*squares.values()], len(inputs))
        return dict(zip(squares, summed, strict=True))
    if isinstance(model, Wrapped):
        return fisher_diagonal(model.inner, inputs, targets, loss)
    with model.evaluating(), torch.enable_grad():
        if model.is_detector:
            squares = _of_detector(model, inputs, targets, loss)
        elif _is_dense(model):
            squares = _of_linear_layers(model, inputs, targets, loss)
        else:
            outputs = model.predict(inputs).requires_grad_()
            # The loss of a batch is a mean: times the number of samples, each has its own.
            (gradients,) = torch.autograd.grad(loss(outputs, targets) * len(inputs), outputs)
            by = _by_vmap if isinstance(model, Classifier) else per_sample
            squares = by(model, inputs, gradients)
    model.clear_graph()
    return squares


def per_sample(
    model: Model, inputs: torch.Tensor, gradients: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return it by one backward pass per sample, given the gradients at the outputs."""
    squares, parameters = _zeros(model)
    for number in range(len(inputs)):
        one = slice(number, number + 1)
        found = torch.autograd.grad(model(inputs[one]), parameters, gradients[one])
        for total, gradient in zip(squares.values(), found, strict=True):
            total.addcmul_(gradient, gradient)
    return squares


def _of_detector(
    model: Model, inputs: torch.Tensor, targets: torch.Tensor, loss: Loss
) -> dict[str, torch.Tensor]:
    """Return it by one backward pass per image, whose loss is its own."""
    squares, parameters = _zeros(model)
    for number in range(len(inputs)):
        one = slice(number, number + 1)
        value = loss(model(inputs[one]), targets[one])
        found = torch.autograd.grad(value, parameters, materialize_grads=True, allow_unused=True)
        for total, gradient in zip(squares.values(), found, strict=True):
            total.addcmul_(gradient, gradient)
    return squares


def _zeros(model: Model) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    return {name: torch.zeros_like(p) for name, p in named.items()}, [*named.values()]


def _by_vmap(
    model: Classifier, inputs: torch.Tensor, gradients: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return it by `torch.func`, so many samples at a time as fit in memory."""
    weights = {name: p.detach() for name, p in model.named_parameters()}
    buffers = dict(model.named_buffers())

    def of_one(weights: dict[str, torch.Tensor], one: Any, gradient: torch.Tensor) -> torch.Tensor:
        outputs = functional_call(model, (weights, buffers), (one[None],))
        found: torch.Tensor = (outputs[0] * gradient).sum()
        return found

    squares = {name: torch.zeros_like(values) for name, values in weights.items()}
    size = max(_NUMBERS_AT_ONCE // model.size, 1)
    for start in range(0, len(inputs), size):
        part = slice(start, start + size)
        found = vmap(grad(of_one), in_dims=(None, 0, 0))(weights, inputs[part], gradients[part])
        for name, each in found.items():
            squares[name] += each.square().sum(0)
    return squares


def _is_dense(model: Model) -> bool:
    """Whether all parameters belong to linear layers on rows of features."""
    return (
        isinstance(model, Classifier)
        and all(
            isinstance(module, nn.Linear | LinearHead) or not [*module.parameters(recurse=False)]
            for module in model.modules()
        )
        and isinstance(model.preprocess, nn.Identity)
    )


def _of_linear_layers(
    model: Model, inputs: torch.Tensor, targets: torch.Tensor, loss: Loss
) -> dict[str, torch.Tensor]:
    """Return it by one matrix product a layer: Σ (g xᵀ)² = (g²)ᵀ x² for outputs' gradients g.

    For a linear probe this is a hundred times as fast as `torch.func`, which would compute one
    matrix per sample.
    """
    layers = {n: m for n, m in model.named_modules() if isinstance(m, nn.Linear | LinearHead)}
    with _recorded(layers) as seen:
        outputs = model(inputs)
        results = [seen[name][1] for name in layers]
        found = torch.autograd.grad(loss(outputs, targets) * len(inputs), results)
    squares = {}
    for name, gradient in zip(layers, found, strict=True):
        squared = gradient.square()
        squares[f"{name}.weight"] = squared.t() @ seen[name][0].detach().square()
        squares[f"{name}.bias"] = squared.sum(0)
    return squares


@contextmanager
def _recorded(layers: Mapping[str, nn.Module]) -> Iterator[dict[str, tuple[Any, Any]]]:
    """Record inputs and outputs of layers, by name."""
    seen: dict[str, tuple[Any, Any]] = {}
    with ExitStack() as stack:
        for name, layer in layers.items():

            def record(_: nn.Module, inputs: Any, output: Any, name: str = name) -> None:
                seen[name] = inputs[0], output

            stack.callback(layer.register_forward_hook(record).remove)
        yield seen
