"""One frame of Emoji Street: the empty street, who is on it, lamps, rain and the sensor's noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onward.data.street.art import scenery
from onward.data.street.camera import HEIGHT, OVER, WIDTH, Pixels, on_screen, rgb
from onward.data.street.effects import exposed, lights, mirror, rain, shadow, street_lamps
from onward.data.street.light import Light
from onward.data.street.placed import Placed, place
from onward.data.street.road import View
from onward.data.street.roadside import beside
from onward.data.street.scene import empty_street
from onward.data.street.traffic import CAR, User

_OCCLUDED, _HIDDEN, _CUT = 0.75, 0.25, 0.4
_SOLID = 0.5


class Seen(NamedTuple):
    """A road user in a frame: class, box (left, top, width, height), and whether it is covered."""

    category: int
    box: tuple[int, int, int, int]
    occluded: bool


def render(
    view: View, light: Light, users: list[User], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], list[Seen]]:
    """Return a frame as RGB bytes, and what can be seen in it.

    Users come the furthest first. Rain and noise are random.
    """
    large = empty_street(view, light)
    small = large.reshape(3, HEIGHT, OVER, WIDTH, OVER)
    frame = small[:, :, 0, :, 0] + small[:, :, 0, :, 1] + small[:, :, 1, :, 0]
    frame = (frame + small[:, :, 1, :, 1]) / 4
    owners = np.full((HEIGHT, WIDTH), -1, np.int16)
    things = beside(view)
    scene = sorted(
        [(user.distance, number) for number, user in enumerate(users)]
        + [(distance, -1 - place) for place, (_, distance, _, _) in enumerate(things)],
        reverse=True,
    )
    masks: dict[int, tuple[slice, slice, NDArray[np.bool_]]] = {}
    for _, number in scene:
        if number < 0:
            name, distance, across, tall = things[-1 - number]
            placed = place(scenery()[name], across, distance, tall, view.bend)
            if placed:
                _draw(frame, placed, distance, light, grounded=False)
                owners[placed.rows, placed.columns][placed.pixels[3] > _SOLID] = -1
            continue
        user = users[number]
        placed = place(user.sprite, user.lane, user.distance, user.tall, view.bend)
        if placed is None:
            continue
        if light.wet:
            mirror(frame, placed, light)
        _draw(frame, placed, user.distance, light, grounded=True, spot=_in_beam(user))
        if light.night and user.category >= CAR:
            lights(frame, placed, user, oncoming=user.lane < -1.8)
        solid = placed.pixels[3] > _SOLID
        owners[placed.rows, placed.columns][solid] = number
        masks[number] = (placed.rows, placed.columns, solid)
    seen = [
        found
        for number, user in enumerate(users)
        if number in masks and (found := _seen(number, user, masks[number], owners, view))
    ]
    if light.night:
        street_lamps(frame, view)
    if light.wet:
        rain(frame, light, rng)
    return exposed(frame, light, rng), seen


def _draw(
    frame: Pixels,
    placed: Placed,
    distance: float,
    light: Light,
    *,
    grounded: bool,
    spot: float = 0.0,
) -> None:
    if grounded:
        shadow(frame, placed, light)
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
