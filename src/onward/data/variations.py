"""Variations of images that are bytes, of which data are made: moved and recoloured.

Training augments images by torchvision, see `onward.train.augment`, and so without these.
"""

import numpy as np

from onward.data.features import LUMINANCE
from onward.types import Array

_COLOUR = 0.4
_MOVED_TURN, _SCALED, _SHIFTED = np.deg2rad(9), 0.12, 0.05


def similarities(count: int, rng: np.random.Generator, reach: float = 1.0) -> Array:
    """Return maps that turn by up to 9 degrees, scale by 12 % and shift by 5 % of the side.

    They go `reach` times as far.

    Examples
    --------
    >>> similarities(1, np.random.default_rng(0), reach=0.0)[0].tolist()
    [[1.0, -0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    angle, size, across, down = rng.uniform(-reach, reach, (4, count))
    ways = _turns(_MOVED_TURN * angle, np.exp(_SCALED * size))
    # The frame reaches from -1 to 1.
    ways[:, 0, 2], ways[:, 1, 2] = 2 * _SHIFTED * across, 2 * _SHIFTED * down
    return ways


def _turns(angles: Array, scale: Array | float) -> Array:
    ways = np.zeros((len(angles), 3, 3))
    ways[:, 0, 0] = ways[:, 1, 1] = scale * np.cos(angles)
    ways[:, 1, 0] = scale * np.sin(angles)
    ways[:, 0, 1] = -ways[:, 1, 0]
    ways[:, 2, 2] = 1
    return ways


def recoloured(images: Array, rng: np.random.Generator) -> Array:
    """Change brightness, contrast and saturation of each image by up to 40 % each."""
    factors = rng.uniform(1 - _COLOUR, 1 + _COLOUR, (3, len(images), 1, 1, 1)).astype(np.float32)
    brightness, contrast, saturation = factors
    found = images * brightness
    grey = (found @ LUMINANCE)[..., None]
    mean = grey.mean((1, 2), keepdims=True)
    # Both mix an image with a greyer one of its own, so that they can be done in one go.
    found = found * (contrast * saturation) + grey * (contrast * (1 - saturation))
    found += mean * (1 - contrast)
    return np.asarray(np.clip(found, 0, 255, out=found).astype(np.uint8))


def warped(images: Array, ways: Array) -> Array:
    """Return images each of whose pixels is the nearest one of where a map takes it, else black.

    Images are bytes (image, height, width, colour); each has a projective map (3, 3), on a frame
    that reaches from -1 to 1.
    """
    count, height, width, colours = images.shape
    down, right = ((2 * np.arange(side) + 1) / side - 1 for side in (height, width))
    grid = np.stack([np.tile(right, height), np.repeat(down, width), np.ones(height * width)])
    x, y, depth = np.moveaxis(ways.astype(np.float32) @ grid.astype(np.float32), 1, 0)
    columns = np.floor((x / depth + 1) * np.float32(width / 2)).astype(np.int64)
    rows = np.floor((y / depth + 1) * np.float32(height / 2)).astype(np.int64)
    outside = (columns < 0) | (columns >= width) | (rows < 0) | (rows >= height)
    places = rows * width + columns + (np.arange(count) * (height * width))[:, None]
    pixels = np.concatenate([images.reshape(-1, colours), np.zeros((1, colours), images.dtype)])
    np.putmask(places, outside, len(pixels) - 1)
    return np.asarray(pixels.take(places.ravel(), axis=0).reshape(images.shape))
