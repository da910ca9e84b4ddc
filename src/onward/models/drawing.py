"""Letting other libraries draw weights from a generator of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Let other libraries draw weights, which they do from the generator that all of torch shares.

    That one is lent a seed, and is as it was afterwards.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield
