"""Training by several processes: each has some of a batch, and gradients are averaged."""

import inspect
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from onward import distributed
from onward.errors import OnwardError
from onward.models.model import Model

# Buffers are those of the whole batch in every process. Older versions of torch have another name.
_NAMES = inspect.signature(DistributedDataParallel).parameters
_OWN_BUFFERS: dict[str, Any] = {
    "forward_sync_buffers" if "forward_sync_buffers" in _NAMES else "broadcast_buffers": False
}


class DataParallel:
    """Computes outputs and gradients of a model in `torch.nn.parallel.DistributedDataParallel`.

    That expects a gradient of every parameter in each step. Which parameters get none, because the
    loss of a method does not depend on them, is found in the first step of a call of `learn`, whose
    gradients are averaged after the backward pass; in later steps these parameters get zeros.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._ddp: DistributedDataParallel | None = None
        self._unused: list[torch.nn.Parameter] = []
        self._is_first = True

    def __call__(self, inputs: torch.Tensor) -> object:
        """Return the outputs of this process's samples."""
        if self._is_first:
            return self._model(inputs)
        if self._ddp is None:
            self._ddp = DistributedDataParallel(self._model, **_OWN_BUFFERS)
        with distributed.collective():
            return self._ddp(inputs)

    def backward(self, loss: torch.Tensor) -> None:
        """Compute the gradient of the mean loss of all processes."""
        for parameter in self._unused:
            loss = loss + 0 * parameter.sum()
        with distributed.collective():
            loss.backward()  # type: ignore[no-untyped-call]
        if self._is_first:
            self._is_first = False
            self._unused = average_gradients(self._model)
        elif any(p.grad is None for p in self._model.parameters() if p.requires_grad):
            # The gradients that come with the missing one are not averaged.
            raise OnwardError(
                "expected a loss that depends on the same parameters in all steps of a call of "
                "learn, where several processes compute it; found one that did not reach some of "
                "them. Add 0 * batch.outputs.sum() to it, or run it in one process"
            )
        for parameter in self._unused:
            parameter.grad = None


def average_gradients(model: Model) -> list[torch.nn.Parameter]:
    """Replace gradients by their means over processes; return the parameters that have none."""
    size = distributed.world_size()
    trained = [p for p in model.parameters() if p.requires_grad]
    has_none = torch.tensor([float(p.grad is None) for p in trained], device=model.device)
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in trained]
    # In one precision, so that all are sent in one piece.
    none_anywhere, *sums = distributed.all_reduce(has_none.to(trained[0].dtype), *found)
    unused = []
    for parameter, total, missing in zip(trained, sums, none_anywhere.tolist(), strict=True):
        parameter.grad = total / size
        if missing == size:
            parameter.grad = None
            unused.append(parameter)
    return unused
