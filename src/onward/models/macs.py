"""Counting the work of a network."""

import torch
from torch import nn


def forward_macs(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Return the multiply-accumulates of one forward pass of one sample.

    Convolutions and linear layers are counted, as the papers do.

    Parameters
    ----------
    network
        Left as it was: it is run once, in evaluation mode.
    shape
        Of one input.

    Examples
    --------
    >>> forward_macs(nn.Conv2d(3, 8, 3, padding=1), (3, 10, 10))
    21600
    """
    counted = 0

    def count(layer: nn.Module, inputs: object, outputs: torch.Tensor) -> None:
        nonlocal counted
        if isinstance(layer, nn.Conv2d):
            counted += outputs[0].numel() * layer.weight[0].numel()
        elif isinstance(layer, nn.Linear):
            counted += outputs[0].numel() * layer.in_features

    hooks = [layer.register_forward_hook(count) for layer in network.modules()]
    training = network.training
    try:
        with torch.no_grad():
            network.eval()(torch.zeros(1, *shape))
    finally:
        network.train(training)
        for hook in hooks:
            hook.remove()
    return counted
