"""Images as they are stored, turned into what networks read."""

import numpy as np
import torch

from onward.errors import OnwardError
from onward.types import Array


def to_pixels(images: Array) -> torch.Tensor:
    """Return images as numbers between 0 and 1 of shape (n, 3, height, width).

    Parameters
    ----------
    images
        Bytes of shape (n, height, width, 3), or with a fourth channel that says where there is
        a drawing: it is laid on white.

    Examples
    --------
    >>> to_pixels(np.zeros((2, 8, 8, 4), np.uint8)).unique()
    tensor([1.])
    """
    if images.ndim != 4 or images.shape[-1] not in (3, 4) or images.dtype != np.uint8:
        raise OnwardError(
            f"expected images as bytes of shape (n, height, width, 3 or 4), found {images.dtype} "
            f"of shape {images.shape}. Choose images as inputs: features=image"
        )
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).to(torch.float32) / 255
    if images.shape[-1] == 4:
        pixels = torch.lerp(torch.ones(()), pixels[:, :3], pixels[:, 3:])
    return pixels.contiguous()
