"""Who is on Emoji Street: road users that come, stay for some frames, move, and leave."""

from dataclasses import dataclass, field

import numpy as np

from onward.data.street.art import Chest, Sprite
from onward.data.street.drives import Drive

PEDESTRIAN, CYCLIST, CAR, TRUCK, BUS, TRICYCLE = 1, 2, 3, 4, 5, 6
_TALL = {PEDESTRIAN: 1.75, CYCLIST: 1.8, CAR: 1.55, TRUCK: 2.4, BUS: 2.7, TRICYCLE: 1.9}  # metres
_NEAREST = {PEDESTRIAN: 8.0, CYCLIST: 8.0, CAR: 8.5, TRUCK: 11.0, BUS: 12.0, TRICYCLE: 8.5}
_FURTHEST = 150.0
_LEAVES = 0.25  # share of those that are gone ten seconds later
# How often each class is met, as in SODA10M's places; tricycles twice as often, since there are
# few frames, and rare all the same.
_OFTEN = {
    "Citystreet": (0.27, 0.15, 0.35, 0.12, 0.07, 0.04),
    "Highway": (0.004, 0.006, 0.50, 0.43, 0.055, 0.005),
    "Countryroad": (0.09, 0.22, 0.48, 0.14, 0.03, 0.04),
}
_BY_NIGHT = np.array([0.6, 0.6, 1.25, 0.95, 1.1, 0.5])
# In a test every class can be met everywhere: one tricycle is no average precision.
_LEAST_IN_TESTS = 0.035
_USERS = {"Citystreet": 7.4, "Highway": 5.8, "Countryroad": 4.6}
# Lanes, in metres to the right of the camera; those at the left of the first one below come
# towards it.
_LANES: dict[str, dict[int, tuple[float, ...]]] = {
    "Citystreet": {
        PEDESTRIAN: (-9.3, -8.4, 6.4, 7.4, 8.4),
        CYCLIST: (4.2, 4.6, -6.6),
        CAR: (-3.6, 0.0, 3.2, -3.6, 0.0),
        TRUCK: (0.0, 3.2, -3.6),
        BUS: (0.0, 3.2, -3.6),
        TRICYCLE: (3.9, 4.3, -6.2),
    },
    "Highway": {
        PEDESTRIAN: (6.2,),
        CYCLIST: (6.1,),
        CAR: (-3.7, 0.0, 3.7, -9.0, -12.6),
        TRUCK: (0.0, 3.7, 3.7, -12.6),
        BUS: (0.0, 3.7, -12.6),
        TRICYCLE: (5.6,),
    },
    "Countryroad": {
        PEDESTRIAN: (3.1, 3.6, -6.2),
        CYCLIST: (1.8, 2.1, -5.0),
        CAR: (0.0, -3.5),
        TRUCK: (0.0, -3.5),
        BUS: (0.0, -3.5),
        TRICYCLE: (1.4, -4.6),
    },
}
_ONCOMING = {"Citystreet": -2.0, "Highway": -7.0, "Countryroad": -1.8}


@dataclass
class User:
    """A road user: its class, its drawing, where it is, and how it moves from frame to frame."""

    category: int
    sprite: Sprite
    lane: float
    distance: float
    closing: float
    walking: float

    @property
    def tall(self) -> float:
        """Its height in metres."""
        return _TALL[self.category]

    @property
    def wide(self) -> float:
        """Its width in metres, as it is drawn."""
        height, width, _ = self.sprite.shape
        return self.tall * float(width) / float(height)


@dataclass
class Traffic:
    """The road users of one drive."""

    drive: Drive
    chest: Chest
    rng: np.random.Generator
    users: list[User] = field(default_factory=list)

    def __post_init__(self) -> None:
        often = np.array(_OFTEN[str(self.drive.place.location)])
        if self.drive.night:
            often = often * _BY_NIGHT
        # No two drives meet the same mix.
        often = often * (0.5 + self.rng.random(6))
        if self.drive.split == "test":
            often = np.maximum(often, _LEAST_IN_TESTS)
        self._often = often / often.sum()
        crowded = 0.75 + 0.5 * float(self.rng.random())
        self._usual = _USERS[str(self.drive.place.location)] * crowded
        self._usual *= 0.8 if self.drive.night else 1.0

    def step(self, *, moving: bool) -> list[User]:
        """Let ten seconds pass, and return who is there, the furthest first."""
        for user in self.users:
            jitter = 0.75 + 0.5 * float(self.rng.random())
            user.distance *= (user.closing if moving else 0.95 + 0.05 * user.closing) * jitter
            user.lane += user.walking
        stay: list[User] = []
        for user in self.users:
            if self._stays(user) and not any(_collide(user, other) for other in stay):
                stay.append(user)
        self.users = stay
        wanted = int(self.rng.poisson(self._usual))
        for _ in range(max(0, wanted - len(self.users))):
            self._arrives()
        return sorted(self.users, key=lambda user: -user.distance)

    def _stays(self, user: User) -> bool:
        near = user.distance >= _NEAREST[user.category]
        return near and user.distance < _FURTHEST and float(self.rng.random()) > _LEAVES

    def _arrives(self) -> None:
        rng, location = self.rng, str(self.drive.place.location)
        category = int(rng.choice(6, p=self._often)) + 1
        lanes = _LANES[location][category]
        sprite = self.chest.draw(category, self.drive.art, rng)
        crossing = category == PEDESTRIAN and location == "Citystreet" and rng.random() < 0.2
        for _ in range(4):
            lane = lanes[int(rng.integers(len(lanes)))] + float(rng.random() - 0.5) * 0.6
            # Most are near enough to be told apart; some are around the size that CLAD-C drops.
            distance = _NEAREST[category] * float(1.0 + 5.5 * rng.random() ** 1.6)
            if rng.random() < 0.12:
                distance = min(4 * distance, 0.9 * _FURTHEST)
            walking = 0.0
            if crossing:
                lane, walking = float(rng.random() * 11 - 6), float(rng.random() - 0.5) * 6
            user = User(
                category,
                sprite,
                lane,
                distance,
                closing=0.5 if lane < _ONCOMING[location] or category == PEDESTRIAN else 1.0,
                walking=walking,
            )
            if not any(_collide(user, other) for other in self.users):
                self.users.append(user)
                return


def _collide(one: User, other: User) -> bool:
    """Whether two are in one place, or one of them would be hidden for the most part."""
    ratio = one.distance / other.distance
    if 0.8 < ratio < 1.25:
        return abs(one.lane - other.lane) < 0.45 * (one.wide + other.wide)
    front, back = (one, other) if ratio < 1 else (other, one)
    # Both as seen at the distance of the one in front.
    shrink = front.distance / back.distance
    shift = abs(front.lane - back.lane * shrink)
    return shift < 0.35 * (front.wide - back.wide * shrink) and front.tall > back.tall * shrink
