"""Features of images from an encoder that is done learning."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from onward.models.pixels import to_pixels
from onward.types import Array

_AT_ONCE = 64


def embed(images: Array, read: Callable[[Tensor], Tensor], size: int) -> Array:
    """Return one row of features per image.

    Images are bytes, see `to_pixels`, and are scaled to this side. `read` gives the features of a
    batch of pixels; its network is to be in evaluation mode: no image's features then depend on the
    others.
    """
    parts = []
    with torch.no_grad():
        for start in range(0, len(images), _AT_ONCE):
            pixels = to_pixels(images[start : start + _AT_ONCE])
            if pixels.shape[-2:] != (size, size):
                pixels = functional.interpolate(
                    pixels, (size, size), mode="bilinear", align_corners=False, antialias=True
                )
            parts.append(read(pixels))
    found: Array = torch.cat(parts).numpy()
    return found
