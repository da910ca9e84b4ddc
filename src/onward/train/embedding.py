"""Features of many images, read ahead by the workers of a loader."""

from collections.abc import Callable, Generator, Sequence
from functools import partial
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from onward.models.encoder import embed
from onward.train.loading import batches
from onward.types import Array, Rows

# Images whose features are computed together.
_BATCH_SIZE = 64


def embed_parts(
    read: Callable[[Rows], Array],
    parts: Sequence[Rows],
    *,
    network: Callable[[Tensor], Tensor],
    size: int,
    device: torch.device,
) -> Generator[Array, None, None]:
    """Yield the features of each part of some images.

    Parameters
    ----------
    read
        Returns images as bytes by their numbers.
    parts
        The numbers of the images of each part.
    network, size
        See `embed`.
    device
        Where the network is.
    """
    items = [
        part[start : start + _BATCH_SIZE]
        for part in parts
        for start in range(0, len(part), _BATCH_SIZE)
    ]
    loaded = batches(partial(_read, read), items, len(items), device)
    try:
        for part in parts:
            count = -(-len(part) // _BATCH_SIZE)
            found = [embed(images, network, size) for _, images in islice(loaded, count)]
            yield np.concatenate([features.cpu().numpy() for features in found])
    finally:
        loaded.close()


def _read(read: Callable[[Rows], Array], rows: Rows) -> Tensor:
    return torch.from_numpy(read(rows))
