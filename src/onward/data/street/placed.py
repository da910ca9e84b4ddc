"""Sprites in a frame: how large, and where."""

from typing import NamedTuple

import numpy as np
from PIL import Image

from onward.data.street.art import Sprite
from onward.data.street.camera import HEIGHT, WIDTH, Pixels, on_screen


class Placed(NamedTuple):
    """A sprite in a frame: rows, columns and planes there; and its box, which may reach outside."""

    rows: slice
    columns: slice
    pixels: Pixels
    box: tuple[int, int, int, int]


def place(
    sprite: Sprite, across: float, distance: float, tall: float, bend: float
) -> Placed | None:
    """Return a sprite at its place on the road, or none if it is outside of the frame.

    It stands metres `across` to the right of the camera and `distance` ahead, and is so many metres
    `tall`.
    """
    x, foot, scale = on_screen(across, distance, bend)
    height = tall * scale
    width = height * sprite.shape[1] / sprite.shape[0]
    rows, columns = max(2, round(height)), max(2, round(width))
    left, top = round(x - columns / 2), round(foot) - rows
    if left + columns <= 0 or left >= WIDTH or top + rows <= 0:
        return None
    # Four channels that are enlarged independently, whatever they are called.
    image = Image.frombytes("CMYK", (sprite.shape[1], sprite.shape[0]), sprite.tobytes())
    kind = Image.Resampling.BOX if rows < len(sprite) else Image.Resampling.BICUBIC
    resized = np.asarray(image.resize((columns, rows), kind)).transpose(2, 0, 1)
    pixels = resized.astype(np.float32) / np.float32(255)
    first_row, first_column = max(0, -top), max(0, -left)
    pixels = pixels[:, first_row : HEIGHT - top, first_column : WIDTH - left]
    here = slice(max(0, top), min(HEIGHT, top + rows))
    there = slice(max(0, left), min(WIDTH, left + columns))
    return Placed(here, there, pixels, (left, top, columns, rows))
