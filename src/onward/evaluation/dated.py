"""Several models on dated tests: how good each is in old and in new periods, with intervals.

Intervals are of a bootstrap over the images of each period's test, whose captions come along: 1,000
draws, the same ones for all models, which are asked the same. That tells what other images of the
same periods would have said; it does not tell of other periods.

References
----------
Efron. "Bootstrap Methods: Another Look at the Jackknife." Annals of Statistics 7, 1979.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError, first_few
from onward.evaluation.asked import EVERYTHING, Asked

DRAWS = 1000
_SEED = 0
_LEVEL = 0.05


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def decides(self) -> bool:
        """Whether zero is outside of the interval."""
        return self.low > 0 or self.high < 0

    def as_json(self, name: str) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: _plain(self.value), "interval": [_plain(self.low), _plain(self.high)]}


@dataclass(frozen=True, eq=False)
class Course:
    """One model's scores in one test, about something, by period: the rest are draws of them."""

    model: str
    test: str
    about: str
    scores: NDArray[np.float64]
    questions: NDArray[np.int64]
    drawn: NDArray[np.float64]

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the 95 % interval in each period."""
        low, high = _quantiles(self.drawn)
        return low, high

    def over(self, places: Sequence[int]) -> Estimate:
        """Return the mean over some periods."""
        return _estimate(_mean(self.scores[None, places])[0], _mean(self.drawn[:, places]))


@dataclass(frozen=True, eq=False)
class Dated:
    """All courses, and where new begins: the periods from this place on are new."""

    periods: tuple[str, ...]
    models: tuple[str, ...]
    split: int
    courses: tuple[Course, ...]

    @property
    def old(self) -> range:
        """The places of the old periods."""
        return range(self.split)

    @property
    def new(self) -> range:
        """The places of the new periods."""
        return range(self.split, len(self.periods))

    def gap(self, course: Course) -> Estimate:
        """Return how much higher a model's mean is in the old periods than in the new ones."""
        value = course.over(self.old).value - course.over(self.new).value
        return _estimate(value, self._gaps(course))

    def against(self, one: Course, other: Course) -> Estimate:
        """Return by how much one model's gap is wider than another's."""
        value = self.gap(one).value - self.gap(other).value
        return _estimate(value, self._gaps(one) - self._gaps(other))

    def newer(self, one: Course, other: Course) -> Estimate:
        """Return by how much one model is better than another in the new periods."""
        value = one.over(self.new).value - other.over(self.new).value
        return _estimate(value, _mean(one.drawn[:, self.new]) - _mean(other.drawn[:, self.new]))

    def pairs(self) -> list[tuple[Course, Course]]:
        """Return what is compared: every two models in the same test about the same."""
        return [
            (one, other)
            for one, other in itertools.combinations(self.courses, 2)
            if (one.test, one.about) == (other.test, other.about)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return gaps and comparisons as plain data."""
        return {
            "new_from": self.periods[self.split],
            "gaps": [
                {
                    "model": one.model,
                    "test": one.test,
                    "about": one.about,
                    "questions": int(one.questions.sum()),
                    "by_period": [_plain(float(score)) for score in one.scores],
                    "old": _plain(one.over(self.old).value),
                    "new": _plain(one.over(self.new).value),
                    **self.gap(one).as_json("gap"),
                }
                for one in self.courses
            ],
            "compared": [
                {
                    "a": one.model,
                    "b": other.model,
                    "test": one.test,
                    "about": one.about,
                    "gap": self.against(one, other).as_json("difference"),
                    "new": self.newer(one, other).as_json("difference"),
                    "answer": _answer(self.newer(one, other)),
                }
                for one, other in self.pairs()
            ],
            "interval": f"95 %, bootstrap over the images of each period, {DRAWS} draws, the same "
            "for all models",
        }

    def _gaps(self, course: Course) -> NDArray[np.float64]:
        return _mean(course.drawn[:, self.old]) - _mean(course.drawn[:, self.new])


def dated(
    asked: Mapping[str, Mapping[tuple[str, str], Asked]],
    periods: Sequence[str],
    new_from: str | None = None,
) -> Dated:
    """Put several models' answers side by side.

    Parameters
    ----------
    asked
        By model, what was asked by (period, test).
    periods
        The names of the periods, in order.
    new_from
        The first new period, or the beginning of its name; by default the last third is new.
    """
    split = _split(periods, new_from)
    models, tests = list(asked), list(dict.fromkeys(test for _, test in next(iter(asked.values()))))
    courses: list[Course] = []
    for test in tests:
        here = [
            (at, period)
            for at, period in enumerate(periods)
            if all((period, test) in mine for mine in asked.values())
        ]
        about = next(iter(asked.values()))[here[0][1], test].about
        scores = np.full((1 + DRAWS, len(models), len(about), len(periods)), np.nan)
        questions = np.zeros((len(about), len(periods)), np.int64)
        for at, period in here:
            mine = [asked[model][period, test] for model in models]
            _require_alike(mine, period, test)
            scores[:, :, :, at] = _scores(mine, at)
            questions[:, at] = mine[0].asked.sum(axis=(0, 2))
        courses += [
            Course(model, test, what, scores[0, m, a], questions[a], scores[1:, m, a])
            for a, what in enumerate(about)
            for m, model in enumerate(models)
            if what == EVERYTHING or questions[a].any()
        ]
    return Dated(tuple(periods), tuple(models), split, tuple(courses))


def require_found(found: Dated, queries: Sequence[str]) -> None:
    """Raise if a query has no caption in any period."""
    there = {course.about for course in found.courses}
    for name in queries:
        if name not in there:
            raise OnwardError(
                f"expected captions that mention {name}, found none in the tests of any period. "
                "Choose other words, joined by commas: --query name=word,word"
            )


def _split(periods: Sequence[str], new_from: str | None) -> int:
    if len(periods) < 2:
        raise OnwardError(f"expected two periods or more to date models by, found {len(periods)}")
    if new_from is None:
        return len(periods) - math.ceil(len(periods) / 3)
    split = sum(name < new_from for name in periods)
    if not 0 < split < len(periods):
        raise OnwardError(
            f"expected old and new periods on both sides of {new_from}, found "
            f"{first_few(list(periods), most=12)}. Choose one of them for --new-from"
        )
    return split


def _require_alike(mine: Sequence[Asked], period: str, test: str) -> None:
    first = mine[0]
    if not all(one.about == first.about and np.array_equal(one.asked, first.asked) for one in mine):
        raise OnwardError(
            f"expected the same questions for all models in the test {test} of {period}, found "
            "others. Evaluate them on the same data"
        )


def _scores(mine: Sequence[Asked], seed: int) -> NDArray[np.float64]:
    """Return scores (1 + draws, model, about), the first as asked, then as drawn again."""
    images = len(mine[0].asked)
    counts = np.stack([mine[0].asked, *(one.right for one in mine)]).transpose(1, 0, 2, 3)
    flat = counts.reshape(images, -1)
    rng = np.random.default_rng([_SEED, seed])
    sums = np.empty((1 + DRAWS, flat.shape[1]))
    sums[0] = flat.sum(axis=0)
    for draw in range(1, 1 + DRAWS):
        weights = np.bincount(rng.integers(0, images, images), minlength=images)
        sums[draw] = weights @ flat
    asked, right = np.split(sums.reshape(1 + DRAWS, 1 + len(mine), -1, 2), [1], axis=1)
    # The mean of both ways, or of the one that there is.
    return _mean(np.divide(right, asked, out=np.full(right.shape, np.nan), where=asked > 0))


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means along the last axis over what is known; NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _estimate(value: float, drawn: NDArray[np.float64]) -> Estimate:
    low, high = _quantiles(drawn)
    return Estimate(float(value), float(low), float(high))


def _quantiles(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = drawn.reshape(len(drawn), -1)
    found = np.full((2, columns.shape[1]), np.nan)
    for at, column in enumerate(columns.T):
        known = column[np.isfinite(column)]
        if len(known):
            found[:, at] = np.quantile(known, [_LEVEL / 2, 1 - _LEVEL / 2])
    return found.reshape(2, *drawn.shape[1:])


def _answer(found: Estimate) -> str:
    if not found.decides:
        return "cannot tell"
    return "better" if found.value > 0 else "worse"


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value
