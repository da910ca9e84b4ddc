"""One frame of Emoji Street: the empty street, who is on it, lamps, rain and the sensor's noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onward.data.street.art import Sprite, scenery
from onward.data.street.camera import (
    EYE,
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
from onward.data.street.scene import View, empty_street, lamps
from onward.data.street.traffic import CAR, User

_OCCLUDED, _HIDDEN, _CUT = 0.75, 0.25, 0.4
_SOLID = 0.5
_WHITE, _RED, _WARM = (1.0, 0.95, 0.8), (1.0, 0.12, 0.06), (1.0, 0.76, 0.42)


class Seen(NamedTuple):
    """A road user in a frame: class, box (left, top, width, height), and whether it is covered."""

    category: int
    box: tuple[int, int, int, int]
    occluded: bool


def render(
    view: View, light: Light, users: list[User], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], list[Seen]]:
    """Return a frame as RGB bytes, and what can be seen in it.

    Parameters
    ----------
    view
        Where the camera is.
    light
        The light there.
    users
        Who is on the street, the furthest first.
    rng
        For rain and noise.
    """
    large = empty_street(view, light)
    small = large.reshape(3, HEIGHT, OVER, WIDTH, OVER)
    frame = small[:, :, 0, :, 0] + small[:, :, 0, :, 1] + small[:, :, 1, :, 0]
    frame = (frame + small[:, :, 1, :, 1]) / 4
    owners = np.full((HEIGHT, WIDTH), -1, np.int16)
    scene = sorted(
        [(user.distance, number) for number, user in enumerate(users)]
        + [(distance, -1 - place) for place, (_, distance, _, _) in enumerate(_beside(view))],
        reverse=True,
    )
    things = _beside(view)
    masks: dict[int, tuple[slice, slice, NDArray[np.bool_]]] = {}
    for _, number in scene:
        if number < 0:
            name, distance, across, tall = things[-1 - number]
            placed = _place(scenery()[name], across, distance, tall, view.bend)
            if placed:
                _draw(frame, placed, distance, light, shadow=False)
                owners[placed.rows, placed.columns][placed.pixels[3] > _SOLID] = -1
            continue
        user = users[number]
        placed = _place(user.sprite, user.lane, user.distance, user.tall, view.bend)
        if placed is None:
            continue
        if light.wet:
            _mirror(frame, placed, light)
        _draw(frame, placed, user.distance, light, shadow=True, spot=_in_beam(user))
        if light.night and user.category >= CAR:
            _lights(frame, placed, user, oncoming=user.lane < -1.8)
        solid = placed.pixels[3] > _SOLID
        owners[placed.rows, placed.columns][solid] = number
        masks[number] = (placed.rows, placed.columns, solid)
    seen = [
        found
        for number, user in enumerate(users)
        if number in masks and (found := _seen(number, user, masks[number], owners, view))
    ]
    if light.night:
        _street_lamps(frame, view)
    if light.wet:
        _rain(frame, light, rng)
    return _exposed(frame, light, rng), seen


class _Placed(NamedTuple):
    """A sprite in a frame: rows, columns, its planes there, and its foot."""

    rows: slice
    columns: slice
    pixels: Pixels
    box: tuple[float, float, float, float]


def _place(
    sprite: Sprite, across: float, distance: float, tall: float, bend: float
) -> _Placed | None:
    x, foot, scale = on_screen(across, distance, bend)
    height = tall * scale
    width = height * sprite.shape[1] / sprite.shape[0]
    rows, columns = max(2, round(height)), max(2, round(width))
    left, top = round(x - columns / 2), round(foot) - rows
    if left + columns <= 0 or left >= WIDTH or top + rows <= 0:
        return None
    planes = []
    for channel in range(4):
        plane = Image.fromarray(sprite[..., channel])
        planes.append(np.asarray(plane.resize((columns, rows), Image.Resampling.BOX if rows < len(sprite) else Image.Resampling.BICUBIC)))
    pixels = np.clip(np.stack(planes), 0, 1)
    first_row, first_column = max(0, -top), max(0, -left)
    pixels = pixels[:, first_row : HEIGHT - top, first_column : WIDTH - left]
    here = slice(max(0, top), min(HEIGHT, top + rows))
    there = slice(max(0, left), min(WIDTH, left + columns))
    return _Placed(here, there, pixels, (left, top, columns, rows))


def _draw(
    frame: Pixels,
    placed: _Placed,
    distance: float,
    light: Light,
    *,
    shadow: bool,
    spot: float = 0.0,
) -> None:
    if shadow:
        _shadow(frame, placed, light)
    colour, cover = placed.pixels[:3], placed.pixels[3]
    lit = colour * light.on_things
    if light.night:
        lit = lit + colour * np.float32(spot) * rgb((0.95, 0.9, 0.78))
    share = np.float32(distance / light.sight / (1 + distance / light.sight))
    lit = lit * (1 - share) + light.low * cover * share
    part = frame[:, placed.rows, placed.columns]
    part *= 1 - cover
    part += lit


def _in_beam(user: User) -> float:
    """How much of the camera car's light falls on a user."""
    far = max(0.0, 1 - user.distance / 60)
    aside = max(0.0, 1.3 - abs(user.lane) / (2.2 + 0.16 * user.distance))
    return 0.12 + 0.85 * far * min(aside, 1.0)


def _shadow(frame: Pixels, placed: _Placed, light: Light) -> None:
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


def _mirror(frame: Pixels, placed: _Placed, light: Light) -> None:
    """Let the wet road show what stands on it, upside down and faint."""
    foot = placed.rows.stop
    rows = min(placed.pixels.shape[1], HEIGHT - foot)
    if rows <= 0:
        return
    upside = placed.pixels[:, ::-1][:, :rows]
    fade = np.linspace(0.38, 0.0, rows, dtype=np.float32)[:, None]
    part = frame[:, foot : foot + rows, placed.columns]
    part += (upside[:3] * light.on_things - part * upside[3]) * fade


def _lights(frame: Pixels, placed: _Placed, user: User, *, oncoming: bool) -> None:
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


def _street_lamps(frame: Pixels, view: View) -> None:
    for across, distance in lamps(view):
        x, foot, scale = on_screen(across, distance, view.bend)
        _glow(frame, x, foot - 6.5 * scale, max(0.6, 0.28 * scale), _WARM, 1.0)


def _beside(view: View) -> list[tuple[str, float, float, float]]:
    """Return what stands beside the road: name, metres ahead and across, height."""
    place, found = view.place, []
    step = {"Citystreet": 18.0, "Highway": 34.0, "Countryroad": 16.0}[str(place.location)]
    trees = {"Shenzhen": "palm tree", "Shanghai": "deciduous tree", "Guangzhou": "deciduous tree"}
    first = int(view.travelled // step) + 1
    for number in range(first, first + 6):
        luck = np.random.default_rng([number, view.key]).random(6)
        ahead = number * step - view.travelled + 6
        if ahead < 7:
            continue
        for side, where in ((-1, luck[0]), (1, luck[1])):
            if luck[2 + (side > 0)] < 0.35:
                continue
            name, tall = trees[str(place.city)], 4.2 + 1.5 * where
            across = {
                "Citystreet": 10.2 if side < 0 else 8.9,
                "Highway": (24 if side < 0 else 11) + 6 * where,
                "Countryroad": (8.5 if side < 0 else 6.2) + 5 * where,
            }[str(place.location)]
            if place.location == "Countryroad" and luck[4] < 0.3:
                name = "evergreen tree"
            if place.location == "Countryroad" and luck[5] < 0.08:
                name, tall, across = "house with garden", 5.0, across + 6
            if place.location == "Citystreet" and luck[5] < 0.16:
                name, tall, across = "vertical traffic light", 2.4, across - 1.6
            found.append((name, ahead, side * across, tall))
    return found


def _seen(
    number: int,
    user: User,
    mask: tuple[slice, slice, NDArray[np.bool_]],
    owners: NDArray[np.int16],
    view: View,
) -> Seen | None:
    """Return the box around a user's pixels in the frame, if enough of it is there."""
    rows, columns, solid = mask
    if not solid.any():
        return None
    there = owners[rows, columns] == number
    _, _, scale = on_screen(user.lane, user.distance, view.bend)
    if (columns.stop - columns.start) < _CUT * user.wide * scale:
        return None
    share = float((there & solid).sum() / solid.sum())
    if share < _HIDDEN:
        return None
    down, across = np.flatnonzero(solid.any(1)), np.flatnonzero(solid.any(0))
    box = (
        columns.start + int(across[0]),
        rows.start + int(down[0]),
        int(across[-1] - across[0]) + 1,
        int(down[-1] - down[0]) + 1,
    )
    return Seen(user.category, box, share < _OCCLUDED)


def _rain(frame: Pixels, light: Light, rng: np.random.Generator) -> None:
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


def _exposed(frame: Pixels, light: Light, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn light into bytes: darker towards the corners, with noise, never beyond white."""
    down = (np.arange(HEIGHT, dtype=np.float32)[:, None] - HORIZON) / HEIGHT
    right = (np.arange(WIDTH, dtype=np.float32)[None] - np.float32(MIDDLE)) / WIDTH
    values = frame * (1 - np.float32(0.35) * (down * down + right * right)) * np.float32(255)
    noise = light.noise
    # Two dice make small deviations more frequent than large ones.
    dice = rng.integers(0, noise + 1, (2, 3, HEIGHT, WIDTH), np.uint8).astype(np.float32)
    values += dice[0] + dice[1] - np.float32(noise)
    return np.clip(values, 0, 255).astype(np.uint8).transpose(1, 2, 0)
