"""The gradient of a loss: with respect to outputs, and for every parameter of a model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from onward.errors import OnwardError
from onward.models.model import Model
from onward.train.method import Batch


class LossGradient(NamedTuple):
    """The gradient of one batch's loss, up to where the model continues it.

    ``outputs`` and ``features`` are gradients with respect to these; of a detector, whose loss is
    connected to its parameters by autograd, ``outputs`` is the loss. ``parameters`` are gradients
    of terms that use parameters directly, such as a quadratic penalty.
    """

    outputs: torch.Tensor
    features: torch.Tensor | None
    parameters: dict[str, torch.Tensor]

    def add_parameter_terms(self, model: Model) -> None:
        """Add the gradients of terms that use parameters directly to the model's."""
        for name, gradient in self.parameters.items():
            parameter = model.parameters[name]
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient


def loss_gradient(compute_loss: Callable[[Batch], Any], batch: Batch) -> LossGradient:
    """Compute the loss of a batch and its gradient.

    The gradient with respect to the outputs is also stored in ``batch.outputs.grad``, for methods
    that change the gradient afterwards.
    """
    model = batch.model
    if not model.shares_loss:
        batch.outputs.requires_grad_()
    with torch.enable_grad(), _requiring_grad(model):
        loss = require_scalar(compute_loss(batch))
        names, wanted = [*model.parameters], [*model.parameters.values()]
        features = vars(batch).get("features")
        if features is not None:
            wanted.append(features)
        if not model.shares_loss:
            wanted.append(batch.outputs)
        found = list(
            torch.autograd.grad(loss, wanted, allow_unused=True, retain_graph=model.shares_loss)
        )
    outputs = loss
    if not model.shares_loss:
        last = found.pop()
        outputs = torch.zeros_like(batch.outputs) if last is None else last
        batch.outputs.grad = outputs
    at_features = None if features is None else found.pop()
    parameters = {
        name: gradient for name, gradient in zip(names, found, strict=True) if gradient is not None
    }
    return LossGradient(outputs, at_features, parameters)


def output_gradient(outputs: Any, loss: Callable[[Any], Any]) -> torch.Tensor:
    """Return the gradient of a loss with respect to a model's outputs.

    Of a detector, whose outputs are no tensor, the loss itself: autograd connects it to the
    parameters.
    """
    with torch.enable_grad():
        if not isinstance(outputs, torch.Tensor):
            return require_scalar(loss(outputs))
        leaf = outputs.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(require_scalar(loss(leaf)), leaf)
    return gradient


def require_scalar(loss: Any) -> torch.Tensor:
    """Return a loss, or say why it cannot be minimised."""
    expected = "expected compute_loss to return a scalar tensor with a gradient, found"
    if not isinstance(loss, torch.Tensor):
        raise OnwardError(f"{expected} {type(loss).__name__}. Return a tensor, not float(loss)")
    if loss.ndim:
        raise OnwardError(f"{expected} the shape {tuple(loss.shape)}. Return its mean or its sum")
    if not loss.requires_grad:
        raise OnwardError(
            f"{expected} one that depends on no output and no parameter. Compute it from "
            "batch.outputs, without detach() or torch.no_grad()"
        )
    return loss


@contextmanager
def _requiring_grad(model: Model) -> Iterator[None]:
    parameters = [*model.parameters.values()]
    for parameter in parameters:
        parameter.requires_grad_()
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad = False
