import numpy as np
import torch

from onward.models.classifier import linear_probe
from onward.train.distillation import OutputCache
from onward.train.method import Batch


def test_each_sample_is_computed_once_also_after_a_restore() -> None:
    inputs, probe = torch.randn(6, 3), linear_probe((3,), 2, torch.Generator().manual_seed(0))
    computed: list[int] = []

    def doubled(some: torch.Tensor) -> torch.Tensor:
        computed.append(len(some))
        return 2 * some

    def batch(*positions: int, new: int) -> Batch:
        chosen = inputs[list(positions)]
        targets = torch.zeros(len(positions), dtype=torch.int64)
        return Batch(probe, chosen, chosen, targets, new, np.array(positions))

    first = OutputCache(4, 3)
    assert torch.equal(first(batch(2, 0, 5, new=2), doubled), 2 * inputs[[2, 0]])
    assert torch.equal(first(batch(1, 2, 0, new=3), doubled), 2 * inputs[[1, 2, 0]])
    assert computed == [2, 1], "replayed samples are none of its own"

    again = OutputCache(4, 3)
    again.restore(first.state())
    assert torch.equal(first(batch(3, new=1), doubled), 2 * inputs[[3]])
    assert torch.equal(again(batch(3, 1, new=2), doubled), 2 * inputs[[3, 1]])
    assert computed == [2, 1, 1, 1]
