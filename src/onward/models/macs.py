"""Counting the work of a network."""

import torch
from torch import nn


def forward_macs(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Count the multiply-accumulates of all convolutions and matrix products for one sample.

    Parameters
    ----------
    network
        In evaluation mode, so that nothing of it changes.
    shape
        Of one input.

    Examples
    --------
    >>> forward_macs(nn.Conv2d(3, 8, 3, padding=1), (3, 10, 10))
    21600
    """
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(torch.zeros(1, *shape))
    return int(counter.get_total_flops()) // 2
