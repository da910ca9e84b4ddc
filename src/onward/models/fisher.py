"""The Fisher diagonal: the squared gradients of single samples."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from onward import distributed
from onward.models.classifier import Classifier, LinearHead
from onward.models.model import Model

Loss = Callable[[Any, torch.Tensor], torch.Tensor]
"""Of outputs and targets of a batch, its mean loss."""
# Numbers in the gradients of the samples that are computed together.
_NUMBERS_AT_ONCE = 2**26
# Layers that keep samples apart, whose squares need no more than a matrix product.
_DENSE = (nn.Identity, nn.Linear, nn.ReLU)


def fisher_diagonal(
    model: Model, inputs: torch.Tensor, targets: torch.Tensor, loss: Loss
) -> dict[str, torch.Tensor]:
    """Return, summed over samples, the square of what each sample adds to the gradient.

    Batch normalization is in evaluation mode: the gradient of a sample depends on no other sample.
    It is computed in fp32 where the model has 16 bits: squares of small numbers need that.
    Where a loss compares the samples of a batch, as CLIP's does, the others are held fixed.
    ``.grad`` of the model's parameters is left alone. `loss` is the mean loss of a batch.

    Where a batch is shared out, the samples are those of this process, and the sums those of all.
    """
    shared = distributed.is_sharing()
    with (
        _whole_in_full_precision(model),
        model.evaluating(),
        torch.enable_grad(),
        distributed.sharing(shared=False),
    ):
        if model.is_detector:
            squares = _by_backward(model, inputs, lambda out, one: loss(out, targets[one]))
        else:
            gradients = _gradients_of_outputs(model.predict(inputs), targets, loss, shared=shared)
            squares = _of_samples(model, inputs, gradients)
    model.clear_graph()
    if shared:
        return dict(zip(squares, distributed.all_reduce(*squares.values()), strict=True))
    return squares


def _gradients_of_outputs(
    outputs: torch.Tensor, targets: torch.Tensor, loss: Loss, *, shared: bool
) -> torch.Tensor:
    """Return the gradients of each sample's loss at its outputs, given all that it compares."""
    start, own = 0, len(outputs)
    if shared:
        counts = distributed.all_counts(own)
        start = sum(counts[: distributed.rank()])
        outputs = torch.cat(distributed.gather(outputs, counts))
        targets = torch.cat(distributed.gather(targets, counts))
    outputs = outputs.detach().requires_grad_()
    # The loss of a batch is a mean: times the number of samples, each has its own.
    (gradients,) = torch.autograd.grad(loss(outputs, targets) * len(outputs), outputs)
    return gradients[start : start + own]


@contextmanager
def _whole_in_full_precision(model: Model) -> Iterator[None]:
    """Compute without 16 bits and micro-batches for as long as the context lasts."""
    before = model.precision, model.micro_batch_size
    model.micro_batch_size = None
    model.precision = "fp32" if model.precision in ("bf16", "fp16") else model.precision
    try:
        yield
    finally:
        model.precision, model.micro_batch_size = before


def _by_backward(
    model: Model, inputs: torch.Tensor, loss: Callable[[Any, slice], torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Return it by one backward pass per sample, given the loss of the outputs of one."""
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    squares = {name: torch.zeros_like(p) for name, p in named.items()}
    for number in range(len(inputs)):
        one = slice(number, number + 1)
        value = loss(model(inputs[one]), one)
        found = torch.autograd.grad(value, [*named.values()], materialize_grads=True)
        for total, gradient in zip(squares.values(), found, strict=True):
            total.addcmul_(gradient, gradient)
    return squares


def _of_samples(
    model: Model, inputs: torch.Tensor, gradients: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return it in the fastest way, given the gradients at the outputs."""
    # `functional_call` would leave other weights in a layer that has two names.
    names = [len([*model.named_parameters(remove_duplicate=once)]) for once in (True, False)]
    if not isinstance(model, Classifier) or len({*names}) > 1:
        return _by_backward(model, inputs, lambda out, one: (out * gradients[one]).sum())
    by = _by_matrix_products if _is_dense(model) else _by_vmap
    return by(model, inputs, gradients)


def _by_vmap(
    model: Classifier, inputs: torch.Tensor, gradients: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return it by `torch.func`, so many samples at a time as fit in memory."""
    weights = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
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


def _is_dense(model: Classifier) -> bool:
    """Whether it is a sequence of linear layers on rows of features, all of which are trained."""
    below = model.backbone
    layers = [model.preprocess, *(below if isinstance(below, nn.Sequential) else (below,))]
    return (
        isinstance(model.head, LinearHead)
        and all(type(layer) in _DENSE for layer in layers)
        # A ReLU in place overwrites what the layer before it returned.
        and not any(getattr(layer, "inplace", False) for layer in layers)
        and all(layer.bias is not None for layer in layers if isinstance(layer, nn.Linear))
        and all(parameter.requires_grad for parameter in model.parameters())
    )


def _by_matrix_products(
    model: Classifier, inputs: torch.Tensor, gradients: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return it by one matrix product a layer: Σ (g xᵀ)² = (g²)ᵀ x² for outputs' gradients g.

    For a linear probe this is a hundred times as fast as `torch.func`: a matrix per sample.
    """
    layers = {n: m for n, m in model.named_modules() if isinstance(m, nn.Linear | LinearHead)}
    seen: dict[str, tuple[Any, Any]] = {}
    with ExitStack() as stack:
        for name, layer in layers.items():

            def record(_: nn.Module, inputs: Any, output: Any, name: str = name) -> None:
                seen[name] = inputs[0], output

            stack.callback(layer.register_forward_hook(record).remove)
        outputs = model(inputs)
    found = torch.autograd.grad(outputs, [seen[name][1] for name in layers], gradients)
    squares = {}
    for name, gradient in zip(layers, found, strict=True):
        squared = gradient.square()
        squares[f"{name}.weight"] = squared.t() @ seen[name][0].detach().square()
        squares[f"{name}.bias"] = squared.sum(0)
    return squares
