"""The camera of Emoji Street: where things in the world are in a frame, and the pixels' rays."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.data.hashing import BASE, mix

# Floats of 32 bits, which numpy's types lose with every number that is written out.
Pixels = NDArray[Any]

WIDTH, HEIGHT = 192, 108  # a tenth of SODA10M's frames
OVER = 2  # the scene is drawn this many times as large, for smooth edges
FOCAL = 221.0  # pixels
EYE = 1.4  # metres above the road
HORIZON = 45.0  # pixels from the top
MIDDLE = WIDTH / 2
FAR = 600.0  # metres


@dataclass(frozen=True, eq=False)
class Rays:
    """Where the rays of an enlarged frame's pixels go.

    ``right`` and ``down`` are pixels from the vanishing point, one row and one column; ``depth``
    is the distance in metres at which each row of pixels below the horizon meets the ground, and
    ``first`` the first of these rows.
    """

    right: Pixels
    down: Pixels
    depth: Pixels
    first: int


@cache
def rays() -> Rays:
    """Return the rays of all pixels of an enlarged frame."""
    right = (np.arange(WIDTH * OVER, dtype=np.float32) + 0.5) / OVER - MIDDLE
    down = (np.arange(HEIGHT * OVER, dtype=np.float32) + 0.5) / OVER - HORIZON
    first = int(np.flatnonzero(down > 0)[0])
    depth = np.minimum(FOCAL * EYE / down[first:], FAR)
    return Rays(right[None], down[:, None], depth[:, None], first)


def on_screen(across: float, distance: float, bend: float) -> tuple[float, float, float]:
    """Return where a point on the road is in a frame, and how many pixels a metre has there.

    `across` and `distance` are metres to the right of the camera and ahead; `bend` says how fast
    the road turns to the right: metres across per square metre ahead.
    """
    scale = FOCAL / distance
    x = MIDDLE + (across + bend * distance * distance) * scale
    return x, HORIZON + EYE * scale, scale


# Enough for no pattern to be seen; looking a number up is many times faster than computing it.
_NUMBERS = 1 << 16


@cache
def _numbers() -> Pixels:
    mixed = mix(np.arange(1, _NUMBERS + 1, dtype=np.uint64) * np.uint64(BASE))
    return np.asarray((mixed >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24))


def pseudo_random(first: Pixels, second: Pixels | int = 0, key: int = 0) -> Pixels:
    """Return numbers from 0 to 1 that depend on whole numbers alone: the same in every frame.

    `first` numbers a thing, such as a storey, and is rounded down; `second` numbers it further,
    such as the window in it; `key` is a number of the street.
    """
    place = np.floor(first).astype(np.int32) * np.int32(73)
    place = place + np.asarray(np.floor(second)).astype(np.int32) * np.int32(9871)
    place += np.int32(key * 31337 % _NUMBERS)
    return np.take(_numbers(), place & np.int32(_NUMBERS - 1))


def fraction(values: Pixels) -> Pixels:
    """Return what is left after rounding down; several times faster than the remainder."""
    return np.asarray(values - np.floor(values))


def rgb(colour: object) -> Pixels:
    """Return a colour as three planes of one pixel.

    Colours are planes, not triples: arithmetic on long rows is several times faster.
    """
    return np.asarray(colour, np.float32).reshape(3, 1, 1)


def palette(colours: object, numbers: Pixels) -> Pixels:
    """Return planes of colours, picked by numbers from 0 to 1."""
    table = np.asarray(colours, np.float32)
    picked = np.minimum(numbers * len(table), len(table) - 1).astype(np.int32)
    return np.stack([np.take(plane, picked) for plane in table.T])
