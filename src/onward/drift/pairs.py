"""Two periods compared: how far apart, how surely, and what that would be without drift."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.drift.embedding import Embedding
from onward.drift.slices import Slice
from onward.drift.tags import Tags, one_below_the_other
from onward.metrics.drift import frechet_distance, total_variation, without_bias, without_drift
from onward.metrics.inputs import Floats
from onward.metrics.two_samples import LEAST_GROUPS, Told, told_apart
from onward.report.numbers import several
from onward.types import Rows

# Where nothing has changed, a deal is as far apart as what was seen, but for rounding.
_TIE = 1e-9
HIGH = 0.95
"""The quantile of distances without drift that a distance is held against."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A distance, and what it would be without drift at these numbers of samples.

    ``endless`` is what it tends to with samples without end, where that was asked for.
    """

    distance: float
    null: Floats
    endless: float | None = None

    @property
    def p(self) -> float:
        """The share of deals by chance that are as far apart, the seen one counted along."""
        reached = self.null >= self.distance - _TIE * abs(self.distance)
        return (1 + int(reached.sum())) / (1 + len(self.null))

    @property
    def middle(self) -> float:
        """What the distance usually is without drift."""
        return float(np.median(self.null))

    @property
    def high(self) -> float:
        """What it seldom exceeds without drift."""
        return float(np.quantile(self.null, HIGH))

    @property
    def above(self) -> bool:
        """Whether it is larger than chance makes it 19 times out of 20."""
        return self.distance > self.high + _TIE * (1 + abs(self.high))

    def to_json(self, name: str = "distance") -> dict[str, Any]:
        """Return plain data."""
        low, middle, high = np.quantile(self.null, [1 - HIGH, 0.5, HIGH]).tolist()
        told = {
            name: self.distance,
            "without_drift": {"q05": low, "median": middle, "q95": high, "draws": len(self.null)},
            "above": self.above,
            "p": self.p,
        }
        return told if self.endless is None else {**told, "endless": self.endless}


@dataclass(frozen=True, eq=False)
class Pair:
    """Two periods by their numbers, and all that was measured between them.

    ``adjusted`` is the p-value of the classifier after Holm's rule over all pairs, ``why_not`` why
    there is no classifier. ``tags`` has the total variation of labels, nouns, …, by name.
    """

    before: int
    after: int
    frechet: Measured
    tags: dict[str, Measured]
    told: Told | None
    why_not: str
    adjusted: float
    level: float

    @property
    def neighbours(self) -> bool:
        """Whether one follows the other."""
        return self.after == self.before + 1

    @property
    def drift(self) -> bool:
        """Whether the classifier tells them apart, at the level and over all pairs."""
        return self.told is not None and self.adjusted <= self.level and self.told.accuracy > 0.5


@dataclass(frozen=True)
class Measuring:
    """What all pairs are measured with: numbers as they are, and narrowed for distances."""

    wide: Embedding
    narrow: Embedding
    draws: int
    level: float
    seed: int


def frechet_between(one: Slice, other: Slice, held: Measuring) -> Measured:
    """Return the Fréchet distance between two periods, with its band."""
    values = np.concatenate([held.narrow.of(one.embedded), held.narrow.of(other.embedded)])
    groups = one.groups[one.drawn], other.groups[other.drawn]
    cut = len(one.drawn)

    def distance(a: Rows, b: Rows) -> float:
        return frechet_distance(values[a], values[b])

    return Measured(
        frechet_distance(values[:cut], values[cut:]),
        without_drift(distance, *groups, draws=held.draws, seed=held.seed),
        without_bias(distance, *groups, seed=held.seed),
    )


def variation_between(
    tags: Tags, before: int, after: int, parts: tuple[Slice, Slice], held: Measuring
) -> Measured | None:
    """Return the total variation of tags between two periods; None where one has none at all."""
    sides = tags.by_period[before], tags.by_period[after]
    if not all((side >= 0).any() for side in sides):
        return None
    values = one_below_the_other(sides)

    def distance(a: Rows, b: Rows) -> float:
        p, q = tags.count(values[a]), tags.count(values[b])
        return total_variation(p, q) if p.sum() and q.sum() else 1.0

    groups = parts[0].groups, parts[1].groups
    # A label stays with its group: to turn the parts of a group round would turn nothing.
    null = without_drift(distance, *groups, paired=False, draws=held.draws, seed=held.seed)
    return Measured(total_variation(tags.counts[before], tags.counts[after]), null)


def classified(one: Slice, other: Slice, held: Measuring) -> tuple[Told | None, str]:
    """Return how well a classifier tells two periods apart, or None and why it was not asked."""
    groups = one.groups[one.drawn], other.groups[other.drawn]
    for part, names in zip((one, other), groups, strict=True):
        count = len(np.unique(names))
        if count < LEAST_GROUPS:
            return None, (
                f"{part.name} has {several(count, 'group')}, and {LEAST_GROUPS} are "
                "needed to hold some out"
            )
    a, b = held.wide.of(one.embedded), held.wide.of(other.embedded)
    try:
        return told_apart(a, b, *groups, level=held.level, seed=held.seed), ""
    except ValueError as error:
        return None, str(error)
