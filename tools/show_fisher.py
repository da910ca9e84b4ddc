"""Print EWC's Fisher information on the emoji history, computed at three batch sizes.

    python tools/show_fisher.py

The numbers must be the same: a Fisher that depends on the batch size is not one.
"""

import numpy as np

import onward
from onward.benchmarks import retrained
from onward.methods.ewc import EWC
from onward.models import Model
from onward.types import Budget, View


def fisher(batch_size: int) -> np.ndarray:
    """Return the importance of each weight, at its first value, measured in such batches."""
    benchmark = retrained(onward.load("clear", protocol="iid"), {"lr": 0})
    found: list[np.ndarray] = []

    class Watched(EWC):
        """EWC that shows what it measured."""

        def on_learn_end(self, model: Model, new: View, budget: Budget) -> None:
            """Measure, and write it down."""
            super().on_learn_end(model, new, budget)
            found.append(self._anchor.importance["weight"].numpy().copy())

    onward.run(retrained(benchmark, {"batch_size": batch_size, "epochs": 1}), Watched)
    return found[0]


by_size = {size: fisher(size) for size in (1, 16, 256)}
for size, values in by_size.items():
    print(f"batch size {size:3}: sum {values.sum():.9g}, largest {values.max():.9g}")
one = by_size[1]
for size in (16, 256):
    apart = np.abs(by_size[size] - one).max() / one.max()
    print(f"largest difference from batch size 1, at {size:3}: {apart:.1e} of the largest value")
