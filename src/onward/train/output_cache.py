"""Outputs that are computed once for each sample, though the sample comes in many batches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.saved import to_arrays, to_tensors
from onward.train.method import Batch

if TYPE_CHECKING:
    from torch import Tensor

MOST_NUMBERS = 2**26  # 256 MB


class OutputCache:
    """A row of outputs for each new sample of a call, computed when the sample is first seen."""

    def __init__(self, samples: int, width: int) -> None:
        import torch  # loaded when it is needed

        self._known = np.zeros(samples, np.bool_)
        self._rows = torch.zeros(samples, width)

    def __call__(self, batch: Batch, compute: "Callable[[Tensor], Tensor]") -> "Tensor":
        """Return the rows of a batch's new samples; unknown ones are computed from their inputs."""
        import torch  # loaded when it is needed

        device = batch.targets.device
        self._rows = self._rows.to(device)
        positions = batch.positions[: batch.num_new]
        where, known = torch.from_numpy(positions).to(device), self._known[positions]
        if not known.all():
            first = torch.from_numpy(np.flatnonzero(~known)).to(device)
            self._rows[where[first]] = compute(batch.inputs[first])
            self._known[positions] = True
        return self._rows.index_select(0, where)

    def state(self) -> dict[str, Any]:
        """Return the rows so far: a batch of another size may give other last bits."""
        return {"known": self._known.copy(), **to_arrays({"rows": self._rows})}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore them."""
        self._known = state["known"].copy()
        self._rows = to_tensors({"rows": state["rows"]})["rows"]
