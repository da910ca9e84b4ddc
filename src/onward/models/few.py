"""Looking at many samples a few at a time."""

import torch


def few(rows: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Return rows in parts of this size; of no rows, one part without any.

    Examples
    --------
    >>> [part.tolist() for part in few(torch.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return [rows[start : start + size] for start in range(0, len(rows) or 1, size)]
