"""What can be done to images that are bytes: seen from elsewhere, turned, covered, recoloured."""

import numpy as np

from onward.data.features import LUMINANCE
from onward.types import Array

# torchvision's usual values: how far a corner is moved, as a share of the side; how large and how
# oblong a covered part is, as shares of the area and ratios of the sides.
_FARTHEST = 0.25
_COVERED = (0.02, 0.33)
_OBLONG = 3.3
_TURN = np.deg2rad(15)
_COLOUR = 0.4
# How far drawings are moved while CLIP learns them.
_MOVED_TURN, _SCALED, _SHIFTED = np.deg2rad(9), 0.12, 0.05
_CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def seen_from_elsewhere(images: Array, rng: np.random.Generator) -> Array:
    """Move the corners of every other image inwards, by up to a quarter of its side each."""
    inwards = 2 * _FARTHEST * rng.random((len(images), 4, 2))
    moved = np.flatnonzero(rng.random(len(images)) < 0.5)
    found = images.copy()
    found[moved] = warped(images[moved], homographies(_CORNERS * (1 - inwards[moved])))
    return found


def turned(images: Array, rng: np.random.Generator) -> Array:
    """Turn each image by up to 15 degrees."""
    return warped(images, _turns(rng.uniform(-_TURN, _TURN, len(images)), 1.0))


def moved(images: Array, rng: np.random.Generator) -> Array:
    """Turn, scale and shift each drawing a little, on white."""
    return np.asarray(255 - warped(255 - images, similarities(len(images), rng)))


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


def covered(images: Array, rng: np.random.Generator) -> Array:
    """Cover a part of every other image with black, a fiftieth to a third of its area."""
    height, width = images.shape[1:3]
    area = rng.uniform(*_COVERED, len(images)) * (rng.random(len(images)) < 0.5)
    ratio = np.exp(rng.uniform(-np.log(_OBLONG), np.log(_OBLONG), len(images)))
    masks = []
    for side, share in ((height, np.sqrt(area * ratio)), (width, np.sqrt(area / ratio))):
        long = np.minimum(np.round(share * side), side)[:, None]
        start = np.floor(rng.random((len(images), 1)) * (side - long + 1))
        place = np.arange(side)
        masks.append((place >= start) & (place < start + long))
    found = images.copy()
    found[masks[0][:, :, None] & masks[1][:, None, :]] = 0
    return found


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


def homographies(corners: Array) -> Array:
    """Return the projective maps that take these corners of each image to the frame's own.

    Parameters
    ----------
    corners
        Top left, top right, bottom right, bottom left, as (image, corner, x and y), where the frame
        reaches from -1 to 1.

    Examples
    --------
    >>> homographies(0.5 * _CORNERS[None]).round(6).diagonal(axis1=1, axis2=2).tolist()
    [[2.0, 2.0, 1.0]]
    """
    x, y = corners[..., 0], corners[..., 1]
    u, v = np.broadcast_to(_CORNERS.T[:, None], (2, *x.shape))
    one, zero = np.ones_like(x), np.zeros_like(x)
    first = np.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1)
    second = np.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)
    equations = np.concatenate([first, second], 1)
    wanted = np.concatenate([u, v], 1)[..., None]
    solved = np.linalg.solve(equations, wanted)[..., 0]
    return np.concatenate([solved, np.ones((len(x), 1))], 1).reshape(-1, 3, 3)


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
