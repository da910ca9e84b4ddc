"""Which part of the drift hurts a model: drift of each class beside what it lost in accuracy.

Of the model nothing is asked but the answers that its run folder holds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.errors import OnwardError, first_few
from onward.metrics.drift import frechet_distance, without_drift
from onward.metrics.inputs import Floats
from onward.metrics.rank_correlation import Correlation, rank_correlation
from onward.report.numbers import finite
from onward.results.collect import collect
from onward.results.record import RunRecord
from onward.types import Array, Rows

if TYPE_CHECKING:
    from onward.drift.measure import Drift

PARTS = {
    "appearance": "how far the class's samples have moved: Fréchet distance less what chance makes",
    "share": "by how much the class's share of all labels has changed",
    "newcomers": "which part of the class's samples is of groups that were not there before",
}
_WIDTH, _DRAWS, _LEAST = 32, 9, 10


@dataclass(frozen=True)
class Point:
    """A class from one period to another: its drift, by part, and what accuracy was lost."""

    name: str
    before: int
    after: int
    drift: dict[str, float]
    lost: float


@dataclass(frozen=True, eq=False)
class Hurt:
    """What drift has to do with the loss of accuracy of one method, over all of its seeds.

    Parameters
    ----------
    method, seeds
        Whose answers they are.
    points
        Classes and pairs of periods: a model's nearest test, and a later one.
    correlations
        By part of the drift, over points, with classes as what was drawn.
    """

    method: str
    seeds: int
    points: Sequence[Point]
    correlations: dict[str, Correlation]

    def by_class(self) -> list[tuple[str, dict[str, float], float]]:
        """Return the mean drift and the mean loss of each class, the largest loss first."""
        found = []
        for name in dict.fromkeys(point.name for point in self.points):
            mine = [point for point in self.points if point.name == name]
            drift = {part: float(np.mean([p.drift[part] for p in mine])) for part in PARTS}
            found.append((name, drift, float(np.mean([point.lost for point in mine]))))
        return sorted(found, key=lambda one: -one[2])

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "method": self.method,
            "seeds": self.seeds,
            "points": len(self.points),
            "correlations": {
                part: {
                    "spearman": finite(one.value),
                    "low": finite(one.low),
                    "high": finite(one.high),
                    "p": finite(one.p),
                    "classes": one.units,
                }
                for part, one in self.correlations.items()
            },
            "classes": [
                {"name": name, "lost": lost, "drift": drift}
                for name, drift, lost in self.by_class()
            ],
        }


def what_hurts(found: "Drift", folders: Sequence[Path]) -> tuple[list[Hurt], list[str]]:
    """Return what drift has to do with the loss of runs, method by method, and what was left out.

    A model of period i is held to its nearest test, of period i or later: its loss at a later
    period is what it gets fewer right there, class by class, as a mean over seeds.

    Parameters
    ----------
    found
        The drift of the data that the runs have learned.
    folders
        Run folders, or folders of them.
    """
    collected = collect(folders)
    left_out = [f"{item.folder}: {item.reason}" for item in collected.left_out]
    names = [part.name for part in found.parts]
    mine = [one for one in collected.records if one.complete]
    others = [
        one
        for one in mine
        if one.spec.data_digest != found.benchmark.raw.digest or list(one.spec.periods) != names
    ]
    if others or not mine:
        what = (
            f"those of {others[0].spec.benchmark} / {others[0].spec.data} in {others[0].path}"
            if others
            else f"none ({first_few(left_out) or 'none is complete'})"
        )
        raise OnwardError(
            f"expected complete runs on {found.benchmark.name} / {found.benchmark.data} with its "
            f"periods {first_few(names, most=3)}, found {what}. Give the data that the runs have "
            "learned, with the same options"
        )
    by_method: dict[str, list[RunRecord]] = {}
    for record in mine:
        by_method.setdefault(record.spec.method, []).append(record)
    moved = _Moved(found)
    hurts = [_hurt(method, records, moved) for method, records in by_method.items()]
    return hurts, left_out


def with_runs(found: "Drift", folders: Sequence[Path]) -> tuple["Drift", list[str]]:
    """Return what was found with what it has to do with these runs, and what was left out."""
    hurts, left_out = what_hurts(found, folders)
    return replace(found, hurts=hurts), left_out


def _hurt(method: str, records: Sequence[RunRecord], moved: "_Moved") -> Hurt:
    cubes = [record.class_matrix() for record in records]
    classes = cubes[0][1]
    scores = _mean([cube for cube, _ in cubes])
    points = []
    for learned in range(len(scores)):
        filled = [
            at for at in range(learned, len(scores)) if np.isfinite(scores[learned, at]).any()
        ]
        for after in filled[1:]:
            for number, name in enumerate(classes):
                lost = float(scores[learned, filled[0], number] - scores[learned, after, number])
                drift = moved.of(name, filled[0], after)
                if drift is not None and math.isfinite(lost):
                    points.append(Point(name, filled[0], after, drift, lost))
    if len({point.name for point in points}) < 3:
        raise OnwardError(
            f"expected answers of {method} about at least three classes in two periods, with "
            f"{_LEAST} samples each, found fewer. A protocol that tests later periods has them"
        )
    losses = [point.lost for point in points]
    units = [point.name for point in points]
    found = {
        part: rank_correlation([p.drift[part] for p in points], losses, units) for part in PARTS
    }
    return Hurt(method, len(records), points, found)


class _Moved:
    """The drift of single classes, each computed once."""

    def __init__(self, found: "Drift") -> None:
        if found.labels is None:
            raise OnwardError("expected labels, by which drift is told class by class, found none")
        self._found, self._labels = found, found.labels
        self._narrow, _ = found.held.wide.narrowed(_WIDTH)
        self._known: dict[tuple[str, int, int], dict[str, float] | None] = {}

    def of(self, name: str, before: int, after: int) -> dict[str, float] | None:
        """Return the drift of a class by part; None where there are too few samples of it."""
        key = name, before, after
        if key not in self._known:
            self._known[key] = self._measured(*key)
        return self._known[key]

    def _measured(self, name: str, before: int, after: int) -> dict[str, float] | None:
        if name not in self._labels.names:
            return None
        number = self._labels.names.index(name)
        sides = [self._places(number, period) for period in (before, after)]
        if min(len(rows) for rows, _ in sides) < _LEAST:
            return None
        values = np.concatenate([self._narrow.of(rows) for rows, _ in sides])
        groups, cut = (sides[0][1], sides[1][1]), len(sides[0][0])

        def distance(a: Rows, b: Rows) -> float:
            return frechet_distance(values[a], values[b])

        null = without_drift(distance, *groups, draws=_DRAWS, seed=self._found.held.seed)
        share = [self._labels.counts[at] / self._labels.counts[at].sum() for at in (before, after)]
        new = np.isin(groups[1], groups[0], invert=True)
        return {
            "appearance": frechet_distance(values[:cut], values[cut:]) - float(np.median(null)),
            "share": float(abs(share[1][number] - share[0][number])),
            "newcomers": float(new.mean()),
        }

    def _places(self, number: int, period: int) -> tuple[Rows, Array]:
        part = self._found.parts[period]
        mine = (self._labels.by_period[period][part.drawn] == number).any(1)
        return part.embedded[mine], part.groups[part.drawn][mine]


def _mean(cubes: Sequence[Floats]) -> Floats:
    """Return the mean over seeds of what is there."""
    stacked = np.stack(cubes)
    there = np.isfinite(stacked).sum(0)
    return np.where(there > 0, np.nansum(stacked, 0) / np.maximum(there, 1), np.nan)
