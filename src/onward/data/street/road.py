"""The roads of Emoji Street, and where the camera is on one."""

from dataclasses import dataclass

from onward.data.soda_words import Place

LAMP_STEP = 25.0  # metres
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

    @property
    def road(self) -> Road:
        """The road that it is on."""
        return ROADS[str(self.place.location)]

    @property
    def passed(self) -> float:
        """How far it has driven since the street began."""
        return self.travelled % _LOOP


def lamps(view: View) -> list[tuple[float, float]]:
    """Return where street lamps stand: metres across, and metres ahead, the furthest first."""
    first = LAMP_STEP * 0.5 - view.passed % LAMP_STEP
    ahead = [first + LAMP_STEP * k for k in range(5, -1, -1)]
    places = view.road.lamps
    return [(place, distance) for distance in ahead for place in places if distance > 7]
