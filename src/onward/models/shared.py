"""What models share: initialization under a seed, and counting work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Seed torch's own generator, from which libraries draw weights, and restore it afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield


def conv_norm_relu(before: int, width: int, stride: int = 1) -> tuple[nn.Module, ...]:
    """Return a convolution of 3 x 3 pixels, its batch normalization, and a ReLU."""
    convolution = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
    return convolution, nn.BatchNorm2d(width), nn.ReLU()


def init_convolutions(network: nn.Module, fan: Literal["fan_in", "fan_out"]) -> None:
    """Draw the weights of all convolutions from normal distributions (Kaiming)."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode=fan, nonlinearity="relu")


def forward_macs(forward: Callable[[torch.Tensor], object], sample: torch.Tensor) -> int:
    """Count the multiply-accumulates of all convolutions and matrix products for a sample.

    Networks are to be in evaluation mode, so that nothing of them changes. Attention is computed by
    plain matrix products, since fused kernels are not counted.

    Examples
    --------
    >>> forward_macs(nn.Conv2d(3, 8, 3, padding=1), torch.zeros(1, 3, 10, 10))
    21600
    """
    from torch.utils.flop_counter import FlopCounterMode

    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with (
            FlopCounterMode(display=False) as counter,
            torch.no_grad(),
            sdpa_kernel(SDPBackend.MATH),
        ):
            forward(sample)
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
    return int(counter.get_total_flops()) // 2
