"""What light and weather do to a frame: shadows, mirrors, lamps, rain and the sensor's noise."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onward.data.street.camera import (
    FOCAL,
    HEIGHT,
    HORIZON,
    MIDDLE,
    OVER,
    WIDTH,
    Pixels,
    on_screen,
    rgb,
)
from onward.data.street.light import Light
from onward.data.street.placed import Placed
from onward.data.street.road import View, lamps
from onward.data.street.traffic import User

_WHITE, _RED, _WARM = (1.0, 0.95, 0.8), (1.0, 0.12, 0.06), (1.0, 0.76, 0.42)


def shadow(frame: Pixels, placed: Placed, light: Light) -> None:
    """Darken the road below what stands on it."""
    left, top, columns, rows = placed.box
    middle, foot = left + columns / 2, top + rows - 0.3
    half, flat = columns * 0.56 + 0.5, max(1.0, rows * 0.10)
    y0, y1 = max(0, int(foot - 2 * flat)), min(HEIGHT, int(foot + 2 * flat) + 2)
    x0, x1 = max(0, int(middle - 1.3 * half)), min(WIDTH, int(middle + 1.3 * half) + 2)
    if y0 >= y1 or x0 >= x1:
        return
    y = (np.arange(y0, y1, dtype=np.float32)[:, None] + 0.5 - foot) / np.float32(flat)
    x = (np.arange(x0, x1, dtype=np.float32)[None] + 0.5 - middle) / np.float32(half)
    dark = np.clip(1.35 - (x * x + y * y), 0, 1) * np.float32(light.shade)
    frame[:, y0:y1, x0:x1] *= 1 - dark


def mirror(frame: Pixels, placed: Placed, light: Light) -> None:
    """Let the wet road show what stands on it, upside down and faint."""
    foot = placed.rows.stop
    rows = min(placed.pixels.shape[1], HEIGHT - foot)
    if rows <= 0:
        return
    upside = placed.pixels[:, ::-1][:, :rows]
    fade = np.linspace(0.38, 0.0, rows, dtype=np.float32)[:, None]
    part = frame[:, foot : foot + rows, placed.columns]
    part += (upside[:3] * light.on_things - part * upside[3]) * fade


def lights(frame: Pixels, placed: Placed, user: User, *, oncoming: bool) -> None:
    """Light a vehicle's two lamps, white if it comes and red if it goes."""
    left, top, columns, rows = placed.box
    colour = _WHITE if oncoming else _RED
    size = max(0.7, (2.6 if oncoming else 1.5) * FOCAL / user.distance / 12)
    for share in (0.16, 0.84):
        _glow(frame, left + share * columns, top + 0.72 * rows, size, colour, 1.1)


def _glow(
    frame: Pixels, x: float, y: float, size: float, colour: tuple[float, ...], strength: float
) -> None:
    reach = int(size * 5) + 2
    y0, y1 = max(0, int(y) - reach), min(HEIGHT, int(y) + reach + 1)
    x0, x1 = max(0, int(x) - reach), min(WIDTH, int(x) + reach + 1)
    if y0 >= y1 or x0 >= x1:
        return
    down = (np.arange(y0, y1, dtype=np.float32)[:, None] + 0.5 - np.float32(y)) / np.float32(size)
    right = (np.arange(x0, x1, dtype=np.float32)[None] + 0.5 - np.float32(x)) / np.float32(size)
    fall = 1 / (1 + down * down + right * right)
    frame[:, y0:y1, x0:x1] += rgb(colour) * (fall * fall * np.float32(strength))


def street_lamps(frame: Pixels, view: View) -> None:
    """Light the lamps along the street."""
    for across, distance in lamps(view):
        x, foot, scale = on_screen(across, distance, view.bend)
        _glow(frame, x, foot - 6.5 * scale, max(0.6, 0.28 * scale), _WARM, 1.0)


def rain(frame: Pixels, light: Light, rng: np.random.Generator) -> None:
    """Streak the picture with drops, and blur some of it behind drops on the glass."""
    image = Image.new("L", (WIDTH * OVER, HEIGHT * OVER))
    pen = ImageDraw.Draw(image)
    slant = 0.12 + 0.2 * float(rng.random())
    for x, y, length, bright in rng.random((90, 4)).tolist():
        across, down, long = x * image.width, y * image.height, 7 + 16 * length
        pen.line((across, down, across - slant * long, down + long), fill=int(70 + 110 * bright))
    streaks = np.asarray(image.reduce(OVER), np.float32) / np.float32(255)
    frame += (np.minimum(light.low * 1.5 + 0.1, 1) - frame) * (streaks * np.float32(0.8))
    for x, y, size in rng.random((5, 3)).tolist():
        side = 3 + int(3 * size)
        top, left = int(y * (HEIGHT - side)), int(x * (WIDTH - side))
        part = frame[:, top : top + side, left : left + side]
        part += (part.mean((1, 2), keepdims=True) * 1.08 - part) * np.float32(0.6)


def exposed(frame: Pixels, light: Light, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light into bytes: darker towards the corners, with noise, never beyond white."""
    down = (np.arange(HEIGHT, dtype=np.float32)[:, None] - HORIZON) / HEIGHT
    right = (np.arange(WIDTH, dtype=np.float32)[None] - np.float32(MIDDLE)) / WIDTH
    values = frame * (1 - np.float32(0.35) * (down * down + right * right)) * np.float32(255)
    noise = light.noise
    # Two dice make small deviations more frequent than large ones.
    dice = rng.integers(0, noise + 1, (2, 3, HEIGHT, WIDTH), np.uint8).astype(np.float32)
    values += dice[0] + dice[1] - np.float32(noise)
    return np.clip(values, 0, 255).astype(np.uint8).transpose(1, 2, 0)
