"""The empty street: sky, skyline, facades or fields, and a road that passes below.

Each pixel's ray is followed to what it meets, all pixels at once: the ground, a wall along the
road, or the sky. What is there depends on whole numbers (which house, which window) that stay the
same while the camera drives by. Arithmetic only, so that the bytes are the same on any machine.
"""

import numpy as np

from onward.data.street.camera import (
    FOCAL,
    OVER,
    Pixels,
    fraction,
    palette,
    pseudo_random,
    rays,
    rgb,
)
from onward.data.street.light import Light
from onward.data.street.road import LAMP_STEP, Road, View
from onward.data.street.walls import barriers, facades

_CROPS = ((0.42, 0.56, 0.20), (0.80, 0.68, 0.30), (0.50, 0.38, 0.24), (0.58, 0.66, 0.26))


def empty_street(view: View, light: Light) -> Pixels:
    """Return an enlarged frame without traffic: planes of floats from 0 to 1."""
    frame = _sky(view, light)
    frame[:, rays().first :] = _ground(view, light)
    if view.place.location == "Citystreet":
        for side in (0, 1):
            facades(frame, view, light, side)
    elif view.place.location == "Highway":
        barriers(frame, view, light)
    return frame


def _sky(view: View, light: Light) -> Pixels:
    first = rays().first
    height = np.clip(-rays().down / 45, 0, 1)
    frame = np.empty((3, len(height), rays().right.shape[1]), np.float32)
    frame[:] = light.low + (light.top - light.low) * height
    if not light.night:
        _clouds(frame[:, :first], view, light)
    _skyline(frame[:, :first], view, light)
    return frame


def _clouds(sky: Pixels, view: View, light: Light) -> None:
    """Blow soft bands over the upper sky, drawn small and enlarged: coarse random values."""
    down = rays().down[: sky.shape[1]]
    x = (rays().right[:, ::4] + np.float32(400 + view.travelled * 0.02)) / 30
    y = (down[::4] + 60) / 9
    amount = 0.65 * _smooth(x, y, view.key) + 0.35 * _smooth(x * 2, y * 2, view.key + 1)
    cover = np.clip((amount - 0.52) * 3.2, 0, 1)
    cover = np.repeat(np.repeat(cover, 4, 0)[: len(down)], 4, 1)
    grey = 0.55 if view.place.weather == "Clear" else 0.22
    cover *= np.clip(-down / 22, 0, 1) * np.float32(grey)
    sky += (np.minimum(light.low * 1.06, 1.0) - sky) * cover


def _smooth(x: Pixels, y: Pixels, key: int) -> Pixels:
    """Return random values of whole places, blended smoothly between them."""
    left, top = np.floor(x), np.floor(y)
    across, along = x - left, y - top
    across, along = across * across * (3 - 2 * across), along * along * (3 - 2 * along)
    corners = [pseudo_random(left + i, top + j, key) for j in (0, 1) for i in (0, 1)]
    upper = corners[0] + (corners[1] - corners[0]) * across
    lower = corners[2] + (corners[3] - corners[2]) * across
    return np.asarray(upper + (lower - upper) * along)


def _skyline(sky: Pixels, view: View, light: Light) -> None:
    """Stand far towers, or two rows of hills, on the horizon."""
    x = rays().right + np.float32(1000 + view.bend * 40000)
    down = rays().down[: sky.shape[1]]
    zero = np.zeros_like(x)
    city = view.place.location == "Citystreet"
    for layer, distance in ((0, 1.2), (1, 0.55)):
        if city or (view.place.location == "Highway" and layer == 0):
            height = 4 + 15 * pseudo_random(x / (5 + 2 * layer), key=view.key + layer) ** 2
            colour = rgb((0.50, 0.55, 0.62))
        else:
            height = 3 + (13 - 5 * layer) * _smooth(x / 34, zero, view.key + 7 * layer)
            height += 1.6 * _smooth(x / 5, zero, view.key + 3) * layer
            colour = rgb(((0.38, 0.50, 0.46), (0.27, 0.42, 0.25))[layer])
        lit = light.through_air(colour * light.on_things, light.sight * distance)
        here = -down < height
        np.copyto(sky, lit, where=here)
        if light.night and city:
            burning = here & (pseudo_random(down / 1.5 + 100, x / 1.5, view.key) < 0.16)
            np.copyto(sky, rgb((0.62, 0.50, 0.30)), where=burning)


def _ground(view: View, light: Light) -> Pixels:
    rays_, road = rays(), view.road
    depth = rays_.depth
    across = rays_.right * (depth / np.float32(FOCAL)) - np.float32(view.bend) * depth * depth
    along = depth + np.float32(view.passed)
    near = 1 / (1 + depth / 25)  # fine detail is lost further away
    on_road = (across > road.edges[0]) & (across < road.edges[1])
    if view.place.location == "Highway":
        on_road &= ~((across > -7.0) & (across < -6.0))
    grain = pseudo_random(across * 5 + 9999, along * 2)
    asphalt = 0.345 + (grain - 0.5) * (0.06 * near)
    # Where wheels roll, the asphalt is darker.
    asphalt -= (np.abs(np.abs(fraction(across / 3.6) - 0.5) - 0.25) < 0.085) * (0.03 * near)
    colour = _beside(view, across, along)
    np.copyto(colour, asphalt * rgb((0.98, 1.0, 1.05)), where=on_road)
    _paint(colour, view, across, along, on_road)
    lit = colour * light.on_things
    if light.wet:
        mirror = light.low * (0.24 / (1 + depth / 40))
        np.copyto(lit, lit * 0.72 + mirror, where=on_road)
    if light.night:
        lit += colour * _lamplight(road, across, along)
    return light.through_air(lit, depth)


def _paint(colour: Pixels, view: View, across: Pixels, along: Pixels, on_road: Pixels) -> None:
    """Paint lines; each is at least half a pixel wide, and fades where it would be thinner."""
    road = view.road
    wide = np.maximum(0.075, rays().depth * np.float32(0.6 / FOCAL / OVER))
    strength = np.minimum(1.0, 0.075 / wide + 0.25)
    dashed = ((along % 12) < 5) * strength
    country = view.place.location == "Countryroad"
    white, yellow = np.zeros_like(across), np.zeros_like(across)
    marks = [(place, white, dashed) for place in road.dashes]
    marks += [(place, white, strength) for place in road.lines]
    marks += [(place, yellow, dashed if country else strength) for place in road.yellow]
    for place, paint, amount in marks:
        np.maximum(paint, (np.abs(across - place) < wide) * amount, out=paint)
    if view.place.location == "Citystreet":
        rows = np.flatnonzero((along + view.key % 50) % 70 < 4)
        zebra = (fraction(across[rows]) < 0.5) & on_road[rows]
        white[rows] = np.maximum(white[rows], zebra * np.float32(0.9))
        curb = np.minimum(np.abs(across - road.edges[0]), np.abs(across - road.edges[1])) < 0.14
        np.maximum(white, curb * np.float32(0.35), out=white)
    colour += (rgb((0.92, 0.92, 0.90)) - colour) * white
    if road.yellow:
        colour += (rgb((0.92, 0.72, 0.24)) - colour) * yellow


def _beside(view: View, across: Pixels, along: Pixels) -> Pixels:
    """Return the ground beside the road: paving, or grass and fields."""
    if view.place.location == "Citystreet":
        tile = fraction((np.floor(across / 0.8) + np.floor(along / 0.8)) / 2)
        return np.asarray((0.60 + 0.07 * tile) * rgb((1.0, 0.98, 0.94)), np.float32)
    blade = pseudo_random(across * 2.5 + 9999, along / 1.2)
    grass = rgb((0.34, 0.52, 0.20)) * (0.9 + 0.2 * blade)
    if view.place.location == "Highway":
        return np.asarray(grass, np.float32)
    plot = pseudo_random(along / 55, across > 0, view.key)
    furrow = 1.0 - 0.14 * (fraction(across / 2.4) < 0.5)
    field = palette(_CROPS, plot) * furrow
    np.copyto(field, grass, where=(across > -9) & (across < 5.5))
    return np.asarray(field, np.float32)


def _lamplight(road: Road, across: Pixels, along: Pixels) -> Pixels:
    """Return the light of the car's own lamps, and of those along the street, on the ground."""
    depth = rays().depth
    beam = np.clip(1 - depth / 48, 0, 1) ** 2
    beam = beam * np.clip(1.25 - np.abs(across) / (1.6 + 0.13 * depth), 0, 1)
    light = beam * rgb((1.58, 1.5, 1.29))
    middle = (along % LAMP_STEP) / LAMP_STEP - 0.5
    for place in road.lamps:
        pool = np.clip(1 - (middle * 2.2) ** 2 - ((across - place) / 7) ** 2, 0, 1)
        light += pool * rgb((0.75, 0.585, 0.345))
    return np.asarray(light)
