"""Where and when Emoji Street is driven: which frames there are, ten seconds apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from onward.data.soda_words import CITIES, Place

FRAMES = 1600
STEP = timedelta(seconds=10)
_LOCATIONS = {"city": "Citystreet", "highway": "Highway", "country": "Countryroad"}
_WEATHERS = {"clear": "Clear", "overcast": "Overcast", "rain": "Rainy"}
_NIGHT = 19  # o'clock, until the morning
# How new the art is on a day: shares of three styles, from the oldest to the newest.
_ART = {
    "2018": (0.6, 0.4, 0.0),
    "2019": (0.45, 0.45, 0.1),
    "2019-11-11": (0.7, 0.3, 0.0),
    "2019-11-17": (0.2, 0.7, 0.1),
    "2019-11-20": (0.0, 0.5, 0.5),
    "2019-11-21": (0.0, 0.1, 0.9),
}
# All tests hold all styles alike: one test set is for all times.
_ART_OF_TESTS = (0.34, 0.33, 0.33)

# Split; then when it begins; city, location, weather; and how many frames out of 1,600. The days
# are SODA10M's, on which CLAD's rules are founded: val holds the three days and nights of CLAD-C's
# stream, and what is left of it is validation; train is Shanghai's city by day, in the sun.
_PLAN = """
train 2018-10-15T09:10:00 sh city clear 70
train 2018-10-15T11:40:00 sh city clear 70
train 2018-10-15T15:16:00 sh city clear 70
train 2018-10-15T15:56:00 sh city clear 70
train 2018-10-15T17:05:00 sh city clear 60
val 2018-10-15T10:30:00 sh highway overcast 12
val 2019-01-15T13:10:00 sh highway overcast 26
val 2019-01-15T14:30:00 sz city rain 12
val 2019-10-22T20:10:00 gz city clear 16
val 2019-10-28T21:00:00 sz highway overcast 14
val 2019-11-11T08:20:00 sh city overcast 42
val 2019-11-11T10:05:00 sh highway clear 40
val 2019-11-11T13:30:00 sh country overcast 22
val 2019-11-11T16:20:00 sh city clear 24
val 2019-11-11T19:55:00 sh highway clear 18
val 2019-11-11T21:10:00 sh city clear 20
val 2019-11-17T08:40:00 gz city overcast 44
val 2019-11-17T10:20:00 gz country rain 34
val 2019-11-17T12:00:00 gz city rain 22
val 2019-11-17T14:10:00 sz highway clear 42
val 2019-11-17T16:40:00 sz city clear 28
val 2019-11-17T20:00:00 sz city clear 34
val 2019-11-17T21:30:00 sz highway overcast 26
val 2019-11-20T09:00:00 sh highway clear 36
val 2019-11-20T11:15:00 sh highway rain 28
val 2019-11-20T14:00:00 sh city overcast 40
val 2019-11-20T17:10:00 gz country clear 18
val 2019-11-21T19:50:00 gz city clear 34
val 2019-11-21T21:20:00 gz country clear 14
val 2019-11-21T22:15:00 sz highway clear 16
test 2018-10-15T08:30:00 sh city clear 36
test 2018-10-15T12:30:00 sh highway clear 54
test 2018-10-15T16:50:00 gz country clear 22
test 2019-01-15T09:20:00 sz city overcast 36
test 2019-06-21T10:00:00 sz city rain 50
test 2019-06-21T11:40:00 sh highway overcast 50
test 2019-06-21T13:20:00 gz city clear 34
test 2019-06-21T14:50:00 gz country overcast 22
test 2019-06-21T15:40:00 sz highway clear 46
test 2019-06-21T17:00:00 sh highway rain 50
test 2019-06-21T17:55:00 gz country rain 34
test 2019-06-21T20:20:00 sh city clear 26
test 2019-10-22T20:00:00 gz city clear 44
test 2019-10-28T20:40:00 sz highway clear 30
test 2019-10-28T22:00:00 sz city overcast 30
test 2019-11-11T21:50:00 gz country clear 20
"""


@dataclass(frozen=True)
class Drive:
    """Frames that follow each other: one place, one weather, one day or night.

    ``number`` is its place in the plan; ``split`` SODA10M's; ``start`` when its first frame is
    taken; ``art`` how probable each of three styles is.
    """

    number: int
    split: str
    start: datetime
    place: Place
    frames: int
    art: tuple[float, float, float]

    @property
    def night(self) -> bool:
        """Whether it is dark."""
        return self.place.period == "Night"

    def times(self) -> Iterator[datetime]:
        """Yield the time of every frame."""
        for frame in range(self.frames):
            yield self.start + frame * STEP


def plan(frames: int) -> tuple[Drive, ...]:
    """Return all drives, with about this many frames altogether, and at least one in each."""
    lines = [line.split() for line in _PLAN.split("\n") if line]
    share = frames / sum(int(line[-1]) for line in lines)
    drives = []
    for number, (split, text, city, location, weather, count) in enumerate(lines):
        start = datetime.fromisoformat(text)
        place = Place(
            CITIES[city.upper()],
            _LOCATIONS[location],
            "Night" if start.hour >= _NIGHT else "Daytime",
            _WEATHERS[weather],
        )
        art = _ART_OF_TESTS if split == "test" else _ART.get(text[:10], _ART[text[:4]])
        drives.append(Drive(number, split, start, place, max(1, round(int(count) * share)), art))
    return tuple(drives)
