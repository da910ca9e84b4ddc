"""How scores fall with time: by distance between learning and testing, overall and by class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.metrics.distance import by_time_distance, per_class_decay_rate
from onward.report.summary import Measure, Summary


@dataclass(frozen=True, eq=False)
class Curve:
    """A method's score at each distance, ``tested_on - learned_upto`` in periods.

    ``by_distance`` has the distances that the protocol fills, ascending.
    """

    label: str
    by_distance: dict[int, Measure]

    @property
    def distances(self) -> NDArray[np.int64]:
        """The distances."""
        return np.array(list(self.by_distance), np.int64)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over seeds at each distance."""
        return np.array([measure.mean for measure in self.by_distance.values()])

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The deviation over seeds at each distance; NaN for a single seed."""
        return np.array([measure.deviation for measure in self.by_distance.values()])


def curve(summary: Summary) -> Curve:
    """Average each seed's scores by distance in time."""
    seeds = [by_time_distance(matrix) for matrix in summary.matrices]
    measures = {
        int(distance): Measure(tuple(float(seed.mean[at]) for seed in seeds))
        for at, distance in enumerate(seeds[0].distance)
    }
    filled = {distance: measure for distance, measure in measures.items() if measure.known}
    return Curve(summary.label, filled)


def exchange(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what two periods' models lose if each is tested on the other's period.

    ``E[i, j] = (R[i, j] + R[j, i]) / 2 - (R[i, i] + R[j, j]) / 2``

    A model that is weak everywhere, or a period that is hard for everyone, is on both sides of
    the difference and cancels out; a plain decline over distance counts both as decay. NaN where
    the protocol leaves one of the four cells empty.

    Parameters
    ----------
    R
        Scores of shape (T, T) or (T, T, C): learned_upto, tested_on and maybe the class.

    Examples
    --------
    >>> exchange(np.array([[.6, .5], [.4, .8]])).round(2).tolist()  # .45 abroad, .70 at home
    [[0.0, -0.25], [-0.25, 0.0]]
    """
    home = np.stack([R[period, period] for period in range(len(R))])
    return np.asarray((R + R.swapaxes(0, 1) - home[:, None] - home[None, :]) / 2, np.float64)


def class_decay(summary: Summary) -> dict[str, Measure]:
    """Return what each class loses per period of distance in `exchange`, fastest decay first.

    Empty for runs without predictions, and for protocols that do not test the past. A method
    that learns every period from scratch measures the data's own drift cleanest: its models have
    seen one period each.
    """
    if not all(record.decisions for record in summary.records):
        return {}
    cubes = [record.class_matrix() for record in summary.records]
    classes = max((names for _, names in cubes), key=len)
    rates = np.full((len(cubes), len(classes)), np.nan)
    for row, (cube, names) in zip(rates, cubes, strict=True):
        row[: len(names)] = per_class_decay_rate(exchange(cube))
    measures = {name: Measure(tuple(rates[:, at].tolist())) for at, name in enumerate(classes)}
    known = [(name, measure) for name, measure in measures.items() if measure.known]
    return dict(sorted(known, key=lambda item: -item[1].mean))


@dataclass(frozen=True)
class Staleness:
    """What the time between the first and the last period costs, per seed.

    ``home`` and ``abroad`` are the mean scores of the first and the last model on their own and
    on each other's period. ``behind`` is how far the first model is behind the last one on the
    last period: what time costs, and what the first period has less to teach.
    """

    home: Measure
    abroad: Measure
    behind: Measure

    @property
    def loss(self) -> Measure:
        """What is lost to time alone."""
        pairs = zip(self.home.values, self.abroad.values, strict=True)
        return Measure(tuple(home - abroad for home, abroad in pairs))


def staleness(summary: Summary) -> Staleness | None:
    """Measure what time costs; None where the protocol leaves the cells for it empty."""
    R = summary.matrices
    if len(R[0]) < 2:
        return None
    home, abroad = (R[:, 0, 0] + R[:, -1, -1]) / 2, (R[:, 0, -1] + R[:, -1, 0]) / 2
    if np.isnan(home + abroad).any():
        return None
    behind = R[:, -1, -1] - R[:, 0, -1]
    return Staleness(*(Measure(tuple(values.tolist())) for values in (home, abroad, behind)))
