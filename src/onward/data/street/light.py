"""The light of Emoji Street: sky, haze and brightness by time of day and weather."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from onward.data.soda_words import Place
from onward.data.street.camera import Pixels, rgb

# By the hour: the sky's top, its lower end, and the light on things, in the sun.
_SUN = (
    (6.5, (0.52, 0.56, 0.74), (0.98, 0.80, 0.66), (0.92, 0.82, 0.76)),
    (9.0, (0.30, 0.56, 0.90), (0.80, 0.90, 0.98), (1.02, 1.00, 0.95)),
    (13.0, (0.22, 0.50, 0.92), (0.72, 0.87, 1.00), (1.06, 1.05, 1.02)),
    (16.0, (0.30, 0.52, 0.88), (0.88, 0.90, 0.92), (1.04, 0.99, 0.90)),
    (17.3, (0.38, 0.46, 0.74), (0.99, 0.78, 0.55), (1.00, 0.84, 0.68)),
    (18.6, (0.30, 0.30, 0.52), (0.93, 0.52, 0.42), (0.74, 0.60, 0.58)),
)


@dataclass(frozen=True, eq=False)
class Light:
    """What the air does to a frame.

    Attributes
    ----------
    top, low
        The sky's colours, as planes of red, green and blue, like all colours here.
    on_things
        By how much colours are dimmed and tinted.
    sight
        Metres after which half of a thing's colour is the air's.
    night, wet
        Whether lamps burn, and whether the road mirrors.
    shade
        How dark shadows are.
    noise
        Half the width of the sensor's noise, in 255ths.
    """

    top: Pixels
    low: Pixels
    on_things: Pixels
    sight: float
    night: bool
    wet: bool
    shade: float
    noise: int

    def through_air(self, colours: Pixels, distance: Pixels | float) -> Pixels:
        """Return what is left of lit colours at a distance."""
        share = np.asarray(distance, np.float32) / np.float32(self.sight)
        share = share / (1 + share)
        return np.asarray(colours + (self.low - colours) * share)


def light_at(time: datetime, place: Place) -> Light:
    """Return the light of a place at a time."""
    rainy, overcast = place.weather == "Rainy", place.weather == "Overcast"
    city = place.location == "Citystreet"
    if place.period == "Night":
        glow = (0.20, 0.155, 0.16) if city else (0.11, 0.115, 0.17)
        above = (0.025, 0.03, 0.085) if not overcast else (0.055, 0.055, 0.085)
        dim = (0.26, 0.27, 0.37) if city else (0.21, 0.225, 0.33)
        return Light(rgb(above), rgb(glow), rgb(dim), 150.0, True, rainy, 0.25, 9)
    top, low, sun = _sun_at(time.hour + time.minute / 60)
    if rainy or overcast:
        grey = sun.mean() * (0.62 if rainy else 0.8)
        top = 0.12 * top + np.array([0.66, 0.70, 0.75]) * grey
        low = 0.12 * low + np.array([0.78, 0.80, 0.83]) * grey
        sun = sun * 0.15 + np.array([0.85, 0.88, 0.93]) * grey
    sight = 70.0 if rainy else 160.0 if overcast else 320.0
    shade = 0.25 if rainy else 0.32 if overcast else 0.5
    return Light(rgb(top), rgb(low), rgb(sun), sight, False, rainy, shade, 5 if rainy else 3)


def _sun_at(hour: float) -> tuple[Pixels, Pixels, Pixels]:
    """Return the sky's top, its lower end and the light on things, between two hours."""
    hours = [row[0] for row in _SUN]
    colours = np.array([row[1:] for row in _SUN]).reshape(len(_SUN), 9)
    blended = [np.interp(hour, hours, colours[:, column]) for column in range(9)]
    top, low, sun = np.array(blended).reshape(3, 3)
    return top, low, sun
