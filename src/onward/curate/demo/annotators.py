"""Annotators who are simulated: of known and different quality, and with an eye on the truth."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

# However hard an image is, nobody errs more often than this.
_AT_MOST = 0.9
# Of those who take an image for what it is not, how many no longer see what it is.
_BLINDED = 0.8
_CRIED_WOLF = 0.002
UNEVENNESS = 0.5
"""How much harder some pictures are than others.

It is the variance of what rates are multiplied with, whose mean is 1.
"""


@dataclass(frozen=True)
class Annotator:
    """Somebody who answers, and errs at these rates on an image of middling hardness.

    Parameters
    ----------
    name
        Who it is.
    misses
        How often something is not seen that is there.
    lured
        How often an image is taken for what it was retrieved for, and is not.
    adds
        How often something is chosen that nobody asked about, and is not there.
    careless
        How often the answer is any answer.
    overlooks
        How often something sensitive is let pass.
    seconds
        How long an answer takes.
    """

    name: str
    misses: float = 0.05
    lured: float = 0.1
    adds: float = 0.01
    careless: float = 0.0
    overlooks: float = 0.1
    seconds: float = 4.0


@dataclass(frozen=True)
class Picture:
    """An image as those who made it know it: what it shows, and what it was retrieved for."""

    id: str
    found_for: str
    shows: frozenset[str]
    sensitive: bool = False


def crew(
    people: int, seed: int, *, misses: float = 0.05, lured: float = 0.1, careless: float = 0.0
) -> list[Annotator]:
    """Return annotators whose rates lie around these, from a third of them to thrice as much."""
    rng = np.random.default_rng([seed, 1])
    factors = 3 ** rng.uniform(-1, 1, (people, 3))
    return [
        Annotator(
            name=f"annotator {number + 1:02}",
            misses=float(min(misses * factor[0], 0.45)),
            lured=float(min(lured * factor[1], 0.45)),
            careless=float(min(careless * factor[2], 0.5)),
            seconds=float(rng.uniform(2.5, 7)),
        )
        for number, factor in enumerate(factors)
    ]


def judged(
    picture: Picture, who: Annotator, concepts: Sequence[str], *, times: int = 0, seed: int = 0
) -> tuple[list[str], bool, float]:
    """Return what somebody says of a picture, whether it is sensitive, and after how many seconds.

    It depends on nothing that was said before: in whatever order a campaign asks, and however often
    it is stopped, they say the same. Only if they are asked `times` before, they may say otherwise.
    """
    # What is hard is hard for everybody.
    hard = float(_chance(seed, picture.id).gamma(1 / UNEVENNESS, UNEVENNESS))
    rng = _chance(seed, picture.id, who.name, str(times))
    seconds = float(who.seconds * rng.gamma(4, 1 / 4))
    return answered(picture, who, hard, concepts, rng), warned(picture, who, rng), seconds


def _chance(seed: int, *about: str) -> np.random.Generator:
    name = hashlib.sha256("\0".join(about).encode()).digest()
    return np.random.default_rng([seed, 4, int.from_bytes(name[:8], "big")])


def answered(
    picture: Picture,
    who: Annotator,
    hard: float,
    concepts: Collection[str],
    rng: np.random.Generator,
) -> list[str]:
    """Draw what somebody says of a picture that is so many times as hard as a middling one."""
    if rng.random() < who.careless:
        any_answer = rng.integers(len(concepts) + 1)
        return [] if any_answer == len(concepts) else [list(concepts)[any_answer]]
    blind, lured = min(who.misses * hard, _AT_MOST), min(who.lured * hard, _AT_MOST)
    seen = {name for name in sorted(picture.shows) if rng.random() >= blind}
    asked = picture.found_for
    if asked in concepts and asked not in picture.shows and rng.random() < lured:
        seen = {asked} if rng.random() < _BLINDED else seen | {asked}
    if rng.random() < who.adds:
        seen.add(list(concepts)[rng.integers(len(concepts))])
    return sorted(seen)


def warned(picture: Picture, who: Annotator, rng: np.random.Generator) -> bool:
    """Draw whether somebody says that a picture is sensitive."""
    return bool(rng.random() < (1 - who.overlooks if picture.sensitive else _CRIED_WOLF))
