"""Where large models compute, and in which precision: what the machine has."""

import contextlib
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Device:
    """Where to compute, and the type of number for products, where it is not the usual one."""

    name: str
    mixed: torch.dtype | None = None

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """Compute products in fewer bits where the hardware is made for it; weights stay whole."""
        if self.mixed is None:
            return contextlib.nullcontext()
        return torch.autocast(self.name.partition(":")[0], dtype=self.mixed)


def chosen(cuda: Any, mps: Any, environment: Mapping[str, str]) -> Device:
    """Return the best device that there is, by what `torch.cuda` and `torch.backends.mps` know.

    A CUDA device computes in bfloat16 if it can, which needs no scaling of losses. A processor
    never does: without instructions for it, it is many times slower. The environment says which
    device a process of several on one machine takes.
    """
    if cuda.is_available():
        place = int(environment.get("LOCAL_RANK", "0")) % max(cuda.device_count(), 1)
        # Not emulated: that is slower than no mixture at all.
        can = cuda.is_bf16_supported(including_emulation=False)
        return Device(f"cuda:{place}", torch.bfloat16 if can else None)
    if mps.is_available():
        return Device("mps")
    return Device("cpu")


@functools.cache
def device() -> Device:
    """Return the best device of this machine."""
    return chosen(torch.cuda, torch.backends.mps, os.environ)
