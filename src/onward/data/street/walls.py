"""Walls along the road: rows of houses in the city, barriers on the highway."""

import numpy as np

from onward.data.street.camera import (
    EYE,
    FAR,
    FOCAL,
    Pixels,
    fraction,
    palette,
    pseudo_random,
    rays,
    rgb,
)
from onward.data.street.light import Light
from onward.data.street.road import ROADS, View

_HOUSE = 15.0  # metres of a facade
# Colours of houses, their least and greatest heights, by city.
_HOUSES = {
    "Shanghai": (((0.62, 0.66, 0.72), (0.75, 0.74, 0.72), (0.52, 0.58, 0.66)), 14, 60),
    "Shenzhen": (((0.80, 0.78, 0.74), (0.66, 0.74, 0.76), (0.88, 0.86, 0.82)), 10, 44),
    "Guangzhou": (((0.80, 0.66, 0.50), (0.72, 0.54, 0.44), (0.84, 0.78, 0.62)), 7, 22),
}
_SHOPS = ((0.80, 0.24, 0.22), (0.20, 0.48, 0.70), (0.90, 0.68, 0.22), (0.24, 0.60, 0.42))


def facades(frame: Pixels, view: View, light: Light, side: int) -> None:
    """Build a row of houses along one side of the road."""
    wall = ROADS["Citystreet"].walls[side]
    half = rays().right.shape[1] // 2
    mine = slice(half + 6, None) if wall > 0 else slice(0, half - 6)
    distance = np.float32(FOCAL * abs(wall)) / np.abs(rays().right[:, mine])
    along = distance + np.float32(view.passed)
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
    colour: Pixels = palette(colours, hue) * np.float32(0.92 if side else 0.74)
    storey, column = height / np.float32(3.3), along / np.float32(2.5)
    u, v = fraction(column), fraction(storey)
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


def barriers(frame: Pixels, view: View, light: Light) -> None:
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
        along = depth + np.float32(view.passed)
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
