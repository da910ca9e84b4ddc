"""Hand-made features of small drawings: outline (HOG), colours, and where the colours are.

497 numbers a drawing: a histogram of oriented gradients over 3 x 3 blocks of 2 x 2 cells with 9
directions (324), a histogram of 5 x 5 x 5 colours (125), and the mean colour of 4 x 4 fields (48).
"""

import numpy as np
from numpy.typing import NDArray

from onward.types import Array

# Part of the cache key: change it whenever the numbers change.
VERSION = "hog-colour-1"

_CELL, _DIRECTIONS, _BLOCK = 8, 9, 2
_COLOURS, _FIELDS = 5, 4
# How bright each colour is.
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
_AT_ONCE = 512
_ROWS_AT_ONCE = 1 << 12


def hog_colour(images: Array) -> NDArray[np.float32]:
    """Describe RGBA drawings, each independently of all others.

    They are bytes of shape (n, 32, 32, 4), transparent where there is no drawing, and are laid on
    white.

    Examples
    --------
    >>> hog_colour(np.zeros((2, 32, 32, 4), np.uint8)).shape
    (2, 497)
    """
    parts = [
        _describe(on_white(images[start : start + _AT_ONCE]))
        for start in range(0, len(images), _AT_ONCE)
    ]
    return np.concatenate(parts)


def on_white(images: Array) -> NDArray[np.float32]:
    """Lay RGBA bytes on white; colours are from 0 to 1."""
    pixels = images.astype(np.float32) / 255
    alpha = pixels[..., 3:]
    return np.asarray(pixels[..., :3] * alpha + (1 - alpha), np.float32)


def _describe(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate(
        [_gradients(colours), _colour_histogram(colours), _field_colours(colours)], axis=1
    )


def _gradients(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    grey = np.sqrt(colours @ LUMINANCE)
    dx, dy = np.zeros_like(grey), np.zeros_like(grey)
    dx[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    dy[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    strength = np.hypot(dx, dy)
    angle = np.arctan2(dy, dx) % np.pi * (_DIRECTIONS / np.pi)
    n, side = len(grey), grey.shape[1]
    cells = side // _CELL
    # Each pixel votes for the two nearest directions of its cell, all counted by one bincount.
    low = np.floor(angle - 0.5).astype(np.int64)
    share = angle - 0.5 - low
    place = np.arange(side) // _CELL
    cell = np.arange(n)[:, None, None] * cells**2 + place[:, None] * cells + place
    histogram = np.zeros(n * cells**2 * _DIRECTIONS)
    for direction, weight in ((low, strength * (1 - share)), (low + 1, strength * share)):
        bins = cell * _DIRECTIONS + direction % _DIRECTIONS
        histogram += np.bincount(bins.ravel(), weight.ravel(), len(histogram))
    grid = histogram.reshape(n, cells, cells, _DIRECTIONS)
    blocks = np.lib.stride_tricks.sliding_window_view(grid, (_BLOCK, _BLOCK), axis=(1, 2))
    flat = blocks.reshape(n, (cells - _BLOCK + 1) ** 2, -1)
    # Contrast is normalised within a block, then clipped so that no single edge dominates.
    flat = np.minimum(flat / np.sqrt((flat**2).sum(-1, keepdims=True) + 1e-4), 0.2)
    flat = flat / np.sqrt((flat**2).sum(-1, keepdims=True) + 1e-4)
    return np.asarray(flat.reshape(n, -1), np.float32)


def _colour_histogram(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    n = len(colours)
    level = np.minimum((colours * _COLOURS).astype(np.int64), _COLOURS - 1)
    colour = (level[..., 0] * _COLOURS + level[..., 1]) * _COLOURS + level[..., 2]
    bins = colour.reshape(n, -1) + np.arange(n)[:, None] * _COLOURS**3
    counts = np.bincount(bins.ravel(), minlength=n * _COLOURS**3).reshape(n, -1)
    return np.asarray(np.sqrt(counts / counts.sum(1, keepdims=True)), np.float32)


def _field_colours(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    n, side = colours.shape[:2]
    fields = colours.reshape(n, _FIELDS, side // _FIELDS, _FIELDS, side // _FIELDS, 3)
    return np.asarray(fields.mean((2, 4)).reshape(n, -1), np.float32)


def standardise(features: Array, reference: Array, *, divide: bool = True) -> NDArray[np.float32]:
    """Centre and scale by the reference samples, clip to ±3, and divide by √width.

    The reference is a past that every learner knows. To divide suits a linear probe, and costs a
    network its first layer's scale.
    """
    return scaled(features, *scale_of(reference), divide=divide)


def scale_of(reference: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the deviation of each feature; 1 where nothing deviates."""
    deviation = reference.std(0, dtype=np.float64)
    return reference.mean(0, dtype=np.float64), np.where(deviation > 1e-6, deviation, 1.0)


def scaled(
    features: Array, mean: Array, deviation: Array, *, divide: bool = True
) -> NDArray[np.float32]:
    """Centre, scale, clip to ±3, and divide by √width."""
    result = np.empty(features.shape, np.float32)
    width = np.sqrt(features.shape[1]) if divide else 1.0
    # A few rows at a time: millions need no second and third copy in double precision.
    for start in range(0, len(features), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        centred = (features[rows] - mean) / deviation
        result[rows] = np.clip(centred, -3, 3) / width
    return result
