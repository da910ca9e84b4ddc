"""What SODA10M's names and dates say: domains in file names, times with their known mistakes."""

import re
from datetime import datetime
from typing import NamedTuple

CATEGORIES = {1: "pedestrian", 2: "cyclist", 3: "car", 4: "truck", 5: "tram/bus", 6: "tricycle"}
CITIES = {"SH": "Shanghai", "SZ": "Shenzhen", "GZ": "Guangzhou"}
PERIODS = {"0": "Daytime", "2": "Night"}
LOCATIONS = {"0": "Citystreet", "1": "Highway", "3": "Countryroad"}
WEATHERS = {"0": "Clear", "1": "Overcast", "2": "Rainy"}
DOMAINS = ("city", "location", "period", "weather")

# As the released code mends them.
_TIMES = {
    "145960": "150000",
    "102360": "102400",
    "1221831": "122131",
    "1420214": "142021",
    "10:00": "100000",
    "13:00": "130000",
    "12:00": "120000",
    "1111523": "111152",
}
_DATES = {"201810152": "20181015", "50181015": "20181015"}
_NAME = re.compile(r"HT_(?:TRAIN|VAL|TEST)_\d{6}_([A-Z]{2})_(\d)(\d)(\d)\.\w+")


class Place(NamedTuple):
    """Where, when and in which weather a frame was taken, as its file name says."""

    city: str | None
    location: str | None
    period: str | None
    weather: str | None


def place_in_name(file_name: str) -> Place:
    """Read the domains out of a file name; ``None`` for what it does not say.

    Three digits stand at its end: period, location, weather.

    Examples
    --------
    >>> place_in_name("HT_VAL_000012_SZ_210.jpg")
    Place(city='Shenzhen', location='Highway', period='Night', weather='Clear')
    """
    found = _NAME.fullmatch(file_name)
    if found is None:
        return Place(None, None, None, None)
    city, period, location, weather = found.groups()
    return Place(
        CITIES.get(city), LOCATIONS.get(location), PERIODS.get(period), WEATHERS.get(weather)
    )


def name_of_place(split: str, number: int, place: Place) -> str:
    """Name a frame as SODA10M does.

    Examples
    --------
    >>> name_of_place("val", 12, Place("Shenzhen", "Highway", "Night", "Clear"))
    'HT_VAL_000012_SZ_210.jpg'
    """
    codes = (CITIES, PERIODS, LOCATIONS, WEATHERS)
    values = (place.city, place.period, place.location, place.weather)
    city, *digits = (
        next(code for code, name in names.items() if name == value)
        for names, value in zip(codes, values, strict=True)
    )
    return f"HT_{split.upper()}_{number:06d}_{city}_{''.join(digits)}.jpg"


def timestamp(date: str, time: str) -> datetime:
    """Read a date and a time of day, mending the mistakes that are known.

    Read as leniently as the released code does, since the published order follows from it.

    Examples
    --------
    >>> timestamp("50181015", "145960 ").isoformat()
    '2018-10-15T15:00:00'
    >>> timestamp("2019-11-11", "10:20:30").isoformat()
    '2019-11-11T10:20:30'
    """
    day, clock = date.replace(" ", ""), time.replace(" ", "")
    text = _DATES.get(day, day) + _TIMES.get(clock, clock)
    for pattern in ("%Y%m%d%H%M%S", "%Y-%m-%d%H:%M:%S"):
        try:
            found = datetime.strptime(text, pattern)
        except ValueError:
            continue
        if 2000 <= found.year < 2100:
            return found
    raise ValueError(
        f"expected a date as YYYYMMDD and a time as HHMMSS, found {date!r} and {time!r}"
    )


def video_and_sequence(file_name_old: str) -> tuple[str, str]:
    """Read the numbers of video and frame out of a frame's earlier name, as texts.

    Examples
    --------
    >>> video_and_sequence("day/3_b/video_0012-frame7.jpg")
    ('0012', '7')
    """
    groups = re.findall(r"\d+", file_name_old.rpartition("/")[2])
    if len(groups) != 2:
        raise ValueError(
            "expected two numbers, of a video and of a frame in it, in file_name_old, found "
            f"{file_name_old!r}"
        )
    return groups[0], groups[1]
