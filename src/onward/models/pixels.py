"""Images as they are stored, turned into what networks read."""

import numpy as np
import torch
from torch import nn

from onward.errors import OnwardError
from onward.types import Array

Scale = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and deviation of images per channel, between 0 and 1."""
IMAGENET: Scale = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Of ImageNet's photos."""
ANY_IMAGES: Scale = ((0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
"""The middle of all bytes, and about their deviation."""


def to_pixels(images: Array | torch.Tensor) -> torch.Tensor:
    """Return images as numbers between 0 and 1 of shape (n, 3, height, width), on their device.

    Images are bytes of shape (n, height, width, 3), or with a fourth channel, alpha: what is
    transparent becomes white.

    Examples
    --------
    >>> to_pixels(np.zeros((2, 8, 8, 4), np.uint8)).unique()
    tensor([1.])
    """
    is_bytes = images.dtype == (torch.uint8 if isinstance(images, torch.Tensor) else np.uint8)
    if images.ndim != 4 or images.shape[-1] not in (3, 4) or not is_bytes:
        raise OnwardError(
            f"expected images as bytes of shape (n, height, width, 3 or 4), found {images.dtype} "
            f"of shape {tuple(images.shape)}. Choose images as inputs: features=image"
        )
    found = images if isinstance(images, torch.Tensor) else torch.from_numpy(images)
    pixels = found.permute(0, 3, 1, 2).to(torch.float32) / 255
    if found.shape[-1] == 4:
        pixels = torch.lerp(pixels.new_ones(()), pixels[:, :3], pixels[:, 3:])
    return pixels.contiguous()


class Normalize(nn.Module):
    """Turns images as bytes (n, height, width, 3) into normalized floats (n, 3, height, width)."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        for name, values in zip(("mean", "std"), scale, strict=True):
            # Constants, not weights: they move along with the device and are in no checkpoint.
            self.register_buffer(name, torch.tensor(values) * 255, persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return normalized images."""
        if images.dtype != torch.uint8:
            raise OnwardError(f"expected images as bytes, found {images.dtype}")
        # Mean and deviation once per column of a row: an axis of three numbers, which is what they
        # would be broadcast along otherwise, takes five times as long.
        mean, std = (values.repeat(images.shape[2]) for values in (self.mean, self.std))
        rows = images.flatten(2).to(self.mean.dtype).sub_(mean).div_(std)
        return rows.view(images.shape).permute(0, 3, 1, 2)
