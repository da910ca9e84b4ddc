"""The empty street: sky, skyline, facades or fields, and a road that passes below.

Each pixel's ray is followed to what it meets, all pixels at once: the ground, a wall along the
road, or the sky. What is there depends on whole numbers (which house, which window) that stay the
same while the camera drives by. Arithmetic only, so that the bytes are the same on any machine.
"""

from dataclasses import dataclass

import numpy as np

from onward.data.soda_words import Place
from onward.data.street.camera import (
    EYE,
    FAR,
    FOCAL,
    OVER,
    Pixels,
    palette,
    pseudo_random,
    rays,
    rgb,
)
from onward.data.street.light import Light

_HOUSE = 15.0  # metres of a facade
# Colours of houses, their least and greatest heights, by city.
_HOUSES = {
    "Shanghai": (((0.62, 0.66, 0.72), (0.75, 0.74, 0.72), (0.52, 0.58, 0.66)), 14, 60),
    "Shenzhen": (((0.80, 0.78, 0.74), (0.66, 0.74, 0.76), (0.88, 0.86, 0.82)), 10, 44),
    "Guangzhou": (((0.80, 0.66, 0.50), (0.72, 0.54, 0.44), (0.84, 0.78, 0.62)), 7, 22),
}
_SHOPS = ((0.80, 0.24, 0.22), (0.20, 0.48, 0.70), (0.90, 0.68, 0.22), (0.24, 0.60, 0.42))
_CROPS = ((0.42, 0.56, 0.20), (0.80, 0.68, 0.30), (0.50, 0.38, 0.24), (0.58, 0.66, 0.26))
_LAMP_STEP = 25.0  # metres
_LOOP = 6000.0  # metres after which a street begins again, so that numbers stay exact


@dataclass(frozen=True)
class Road:
    """A kind of road, in metres to the right of the camera.

    ``edges`` of the asphalt, ``dashes`` and ``lines`` in white, ``yellow`` in the middle, ``walls``
    along it, and where lamps stand, if any.
    """

    edges: tuple[float, float]
    dashes: tuple[float, ...]
    lines: tuple[float, ...]
    yellow: tuple[float, ...]
    walls: tuple[float, float]
    lamps: tuple[float, ...]


ROADS = {
    "Citystreet": Road((-7.2, 5.4), (1.8, -5.3), (), (-1.65, -1.95), (-11.5, 10.0), (-8.0, 6.3)),
    "Highway": Road((-18.5, 6.6), (-1.85, 1.85, -10.5), (-5.7, 5.6, -7.2), (), (-6.4, 7.0), ()),
    "Countryroad": Road((-5.4, 2.2), (), (-5.1, 1.9), (-1.7,), (-400.0, 400.0), ()),
}


@dataclass(frozen=True)
class View:
    """What the camera looks at: a place, how far it has driven, how the road bends ahead."""

    place: Place
    travelled: float
    bend: float
    key: int


def empty_street(view: View, light: Light) -> Pixels:
    """Return an enlarged frame without traffic: planes of floats from 0 to 1."""
    frame = _sky(view, light)
    frame[:, rays().first :] = _ground(view, light)
    if view.place.location == "Citystreet":
        for side in (0, 1):
            _facades(frame, view, light, side)
    elif view.place.location == "Highway":
        _barriers(frame, view, light)
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
    rays_, road = rays(), ROADS[str(view.place.location)]
    depth = rays_.depth
    across = rays_.right * (depth / np.float32(FOCAL)) - np.float32(view.bend) * depth * depth
    along = depth + np.float32(view.travelled % _LOOP)
    near = 1 / (1 + depth / 25)  # fine detail is lost further away
    on_road = (across > road.edges[0]) & (across < road.edges[1])
    if view.place.location == "Highway":
        on_road &= ~((across > -7.0) & (across < -6.0))
    grain = pseudo_random(across * 5 + 9999, along * 2)
    asphalt = 0.345 + (grain - 0.5) * (0.06 * near)
    # Where wheels roll, the asphalt is darker.
    asphalt -= (np.abs(np.abs(across % 3.6 - 1.8) - 0.9) < 0.3) * (0.03 * near)
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
    road = ROADS[str(view.place.location)]
    wide = np.maximum(0.075, rays().depth * np.float32(0.6 / FOCAL / OVER))
    strength = np.minimum(1.0, 0.075 / wide + 0.25)
    dashed = ((along % 12) < 5) * strength
    country = view.place.location == "Countryroad"
    white, yellow = rgb((0.92, 0.92, 0.90)), rgb((0.92, 0.72, 0.24))
    marks = [(place, white, dashed) for place in road.dashes]
    marks += [(place, white, strength) for place in road.lines]
    marks += [(place, yellow, dashed if country else strength) for place in road.yellow]
    for place, paint, amount in marks:
        colour += (paint - colour) * ((np.abs(across - place) < wide) * amount)
    if view.place.location == "Citystreet":
        zebra = ((along + view.key % 50) % 70 < 4) & (across % 1.0 < 0.5) & on_road
        colour += (white - colour) * (zebra * np.float32(0.9))
        curb = np.minimum(np.abs(across - road.edges[0]), np.abs(across - road.edges[1])) < 0.14
        colour += (white - colour) * (curb * np.float32(0.35))


def _beside(view: View, across: Pixels, along: Pixels) -> Pixels:
    """Return the ground beside the road: paving, or grass and fields."""
    if view.place.location == "Citystreet":
        tile = (np.floor(across / 0.8) + np.floor(along / 0.8)) % 2
        return np.asarray((0.60 + 0.035 * tile) * rgb((1.0, 0.98, 0.94)), np.float32)
    blade = pseudo_random(across * 2.5 + 9999, along / 1.2)
    grass = rgb((0.34, 0.52, 0.20)) * (0.9 + 0.2 * blade)
    if view.place.location == "Highway":
        return np.asarray(grass, np.float32)
    plot = pseudo_random(along / 55, across > 0, view.key)
    furrow = np.where(across % 2.4 < 1.2, np.float32(1.0), np.float32(0.86))
    field = palette(_CROPS, plot) * furrow
    np.copyto(field, grass, where=(across > -9) & (across < 5.5))
    return np.asarray(field, np.float32)


def _lamplight(road: Road, across: Pixels, along: Pixels) -> Pixels:
    """Return the light of the car's own lamps, and of those along the street, on the ground."""
    depth = rays().depth
    beam = np.clip(1 - depth / 48, 0, 1) ** 2
    beam = beam * np.clip(1.25 - np.abs(across) / (1.6 + 0.13 * depth), 0, 1)
    light = beam * rgb((1.58, 1.5, 1.29))
    middle = (along % _LAMP_STEP) / _LAMP_STEP - 0.5
    for place in road.lamps:
        pool = np.clip(1 - (middle * 2.2) ** 2 - ((across - place) / 7) ** 2, 0, 1)
        light += pool * rgb((0.75, 0.585, 0.345))
    return np.asarray(light)


def lamps(view: View) -> list[tuple[float, float]]:
    """Return where street lamps stand: metres across, and metres ahead, the furthest first."""
    first = _LAMP_STEP * 0.5 - (view.travelled % _LOOP) % _LAMP_STEP
    ahead = [first + _LAMP_STEP * k for k in range(5, -1, -1)]
    places = ROADS[str(view.place.location)].lamps
    return [(place, distance) for distance in ahead for place in places if distance > 7]


def _facades(frame: Pixels, view: View, light: Light, side: int) -> None:
    """Build a row of houses along one side of the road."""
    wall = ROADS["Citystreet"].walls[side]
    half = rays().right.shape[1] // 2
    mine = slice(half + 6, None) if wall > 0 else slice(0, half - 6)
    distance = np.float32(FOCAL * abs(wall)) / np.abs(rays().right[:, mine])
    along = distance + np.float32(view.travelled % _LOOP)
    key = view.key + side
    house = along / _HOUSE
    colours, least, most = _HOUSES[str(view.place.city)]
    tall, taller, gap, hue = (pseudo_random(house, k, key) for k in range(4))
    top = np.where(gap < 0.1, np.float32(0), least + (most - least) * tall * taller)
    # Rows below the foot of the nearest house show no wall.
    last = int(np.flatnonzero(rays().down[:, 0] < EYE * FOCAL / distance.min())[-1]) + 1
    height = EYE - rays().down[:last] * (distance / np.float32(FOCAL))
    there = (height > 0) & (height < top)
    fine = 1 / (1 + distance / 60)
    colour = palette(colours, hue) * np.float32(0.92 if side else 0.74)
    storey, column = height / np.float32(3.3), along / np.float32(2.5)
    u, v = column - np.floor(column), storey - np.floor(storey)
    window = ((u > 0.22) & (u < 0.78)) & ((v > 0.28) & (v < 0.78) & (height > 3.9))
    glass = pseudo_random(storey + 50, column, key)
    pane = rgb((0.30, 0.38, 0.48)) * (0.8 + 0.5 * glass)
    colour = colour + (pane - colour) * (window * fine)
    sign = palette(_SHOPS, pseudo_random(along / 5, key=key))
    low, high = height < 3.6, height > 2.7
    np.copyto(colour, sign * np.where(high, np.float32(1.0), np.float32(0.55)), where=low)
    edge = (along % _HOUSE < 0.35) | (np.abs(height - top) < 0.45)
    colour *= np.where(edge, np.float32(0.8), np.float32(1.0))
    lit = colour * light.on_things
    if light.night:
        burning = (window & (glass < 0.4)) * (0.34 + 0.51 * fine)
        lit += burning * rgb((0.95, 0.74, 0.42)) + (low & high) * (sign * np.float32(0.85))
        lit += (low & ~high) * rgb((0.30, 0.24, 0.14))
    np.copyto(frame[:, :last, mine], light.through_air(lit, distance), where=there)


def _barriers(frame: Pixels, view: View, light: Light) -> None:
    """Set a concrete wall between the carriageways, and a rail at the right."""
    first, right = rays().first, rays().right
    down = rays().down[first:]
    for side, wall in enumerate(ROADS["Highway"].walls):
        # The wall bends with the road: search for the depth at which each column meets it.
        depth = np.full(right.shape, 12.0, np.float32)
        for _ in range(12):
            slope = right / np.float32(FOCAL) - np.float32(view.bend) * depth
            slope = np.where(np.sign(slope) == np.sign(wall), slope, np.sign(wall) * 1e-4)
            depth = 0.5 * depth + 0.5 * np.clip(wall / slope, 3, FAR).astype(np.float32)
        height = EYE - down * (depth / np.float32(FOCAL))
        along = depth + np.float32(view.travelled % _LOOP)
        if side == 0:
            there = (height > 0) & (height < 0.95)
            base = np.where(height > 0.8, 0.74, 0.62) * np.where(along % 6 < 0.2, 0.85, 1)
        else:
            there = (height > 0.42) & (height < 0.78)
            there |= (along % 4 < 0.25) & (height > 0) & (height < 0.78)
            base = np.where(np.abs(height - 0.6) < 0.07, 0.58, 0.76)
        there &= depth < FAR / 2
        lit = base.astype(np.float32) * light.on_things
        if light.night:
            lit *= 1 + 2.2 * np.clip(1 - depth / 50, 0, 1)
        np.copyto(frame[:, first:], light.through_air(lit, depth), where=there)
