"""Collectives that gradients flow through: the sum of a tensor over processes, and its rows."""

from typing import Any

import torch
from torch import distributed
from torch.autograd import Function


class AllReduce(Function):
    """The sum of a tensor over all processes; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: Any, own: torch.Tensor) -> torch.Tensor:
        """Return the sum."""
        total = own.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Return the sum of the gradients."""
        total = grad.clone()
        distributed.all_reduce(total)
        return total


class AllGather(Function):
    """The rows of all processes, as many of each; a process gets the sum of its rows' gradients."""

    @staticmethod
    def forward(ctx: Any, own: torch.Tensor) -> torch.Tensor:
        """Return them, stacked by process."""
        every = [torch.empty_like(own) for _ in range(distributed.get_world_size())]
        distributed.all_gather(every, own.contiguous())
        return torch.stack(every)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Return the sum over processes of the gradients of this one's rows."""
        total = grad.clone()
        distributed.all_reduce(total)
        return total[distributed.get_rank()]
