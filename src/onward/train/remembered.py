"""What is computed once for each sample, though the sample comes in many batches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.saved import to_arrays, to_tensors
from onward.train.method import Batch

if TYPE_CHECKING:
    from torch import Tensor

MOST = 2**26  # numbers, 256 MB


class Remembered:
    """A row of so many numbers for each new sample of a call, computed when it is first met."""

    def __init__(self, samples: int, width: int) -> None:
        import torch  # loaded when it is needed

        self._known = np.zeros(samples, np.bool_)
        self._rows = torch.zeros(samples, width)
        # Of one batch after another: a fresh one every time costs as much again as reading it.
        self._batch = torch.zeros(0, width)

    def __call__(self, batch: Batch, compute: "Callable[[Tensor], Tensor]") -> "Tensor":
        """Return the rows of a batch's new samples, until the next batch.

        Those of samples that were not met before are computed from their inputs.
        """
        import torch  # loaded when it is needed

        positions = batch.positions[: batch.num_new]
        where = torch.from_numpy(positions)
        met = self._known[positions]
        if not met.all():
            first = torch.from_numpy(np.flatnonzero(~met))
            self._rows[where[first]] = compute(batch.inputs[first])
            self._known[positions] = True
        if len(self._batch) < len(where):
            self._batch = self._rows.new_empty(len(where), self._rows.shape[1])
        return torch.index_select(self._rows, 0, where, out=self._batch[: len(where)])

    def state(self) -> dict[str, Any]:
        """Return the rows so far: a batch of another size may give other last bits."""
        return {"known": self._known.copy(), **to_arrays({"rows": self._rows})}

    def restore(self, state: dict[str, Any]) -> None:
        """Take them back."""
        self._known = state["known"].copy()
        self._rows = to_tensors({"rows": state["rows"]})["rows"]
