"""What models share: weights by name, and what is done with networks of other libraries."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import nn

from onward.models.model import Model


class Trained:
    """Abstract: weights by name, of which there are so many; no sample knows of another one."""

    mixes = False
    shares_loss = False
    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters.values())


def overwrite(model: Model, weights: Mapping[str, torch.Tensor]) -> None:
    """Give a model other parameters and buffers, in the place of its own."""
    for name, values in {**model.parameters, **model.buffers}.items():
        values.copy_(weights[name])


def gradients_of(
    net: nn.Module, graph: torch.Tensor, slope: torch.Tensor | None = None, *, again: bool = False
) -> dict[str, torch.Tensor]:
    """Return the gradient of all parameters that are learned, by name, for a slope at a graph.

    A graph that is a number needs no slope. It may be asked `again` if that is said now.
    """
    learned = {name: values for name, values in net.named_parameters() if values.requires_grad}
    found = torch.autograd.grad(
        graph, [*learned.values()], slope, retain_graph=again, materialize_grads=True
    )
    return dict(zip(learned, found, strict=True))


def few(rows: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Return rows in parts of this size; of no rows, one part without any.

    Examples
    --------
    >>> [part.tolist() for part in few(torch.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return [rows[start : start + size] for start in range(0, len(rows) or 1, size)]


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Let other libraries draw weights, which they do from the generator that all of torch shares.

    That one is lent a seed, and is as it was afterwards.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield


def forward_macs(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Count the multiply-accumulates of all convolutions and matrix products for one sample.

    The network is in evaluation mode, so that nothing of it changes.

    Examples
    --------
    >>> forward_macs(nn.Conv2d(3, 8, 3, padding=1), (3, 10, 10))
    21600
    """
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(torch.zeros(1, *shape))
    return int(counter.get_total_flops()) // 2
