"""Features of images from an encoder that is not trained any more."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from onward.models.pixels import to_pixels


def embed(images: Tensor, network: Callable[[Tensor], Tensor], size: int) -> Tensor:
    """Return one row of features per image, computed on the device of the images.

    Parameters
    ----------
    images
        A batch of bytes, see `to_pixels`.
    network
        Returns the features of a batch of pixels. It is to be in evaluation mode: no image's
        features then depend on the others.
    size
        The side that images are resized to.
    """
    pixels = to_pixels(images)
    if pixels.shape[-2:] != (size, size):
        pixels = functional.interpolate(
            pixels, (size, size), mode="bilinear", align_corners=False, antialias=True
        )
    with torch.no_grad():
        return network(pixels)
