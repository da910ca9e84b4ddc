"""How far periods are from each other, as a policy is told: from a file, or from the class mix."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.data.read_files import read_json
from onward.errors import OnwardError, first_few, unknown
from onward.metrics.drift import total_variation
from onward.report.provenance import StreamCard

_ENDS = ("from", "to")
# Measures that nobody has before labels are there.
_OF_LABELS = ("labels", "classes")


@dataclass(frozen=True, eq=False)
class Drift:
    """Distances between periods, in row i and column j, NaN where unknown, and what they are.

    Some can be measured only once labels are there.
    """

    values: NDArray[np.float64]
    words: str
    needs_labels: bool = False

    @property
    def thresholds(self) -> list[float]:
        """A low, a middle and a high one: the quartiles of all distances that are known."""
        ahead = self.values[np.triu_indices(len(self.values), 1)]
        known = ahead[np.isfinite(ahead)]
        return sorted({float(value) for value in np.quantile(known, [0.25, 0.5, 0.75])})


def class_mix_drift(card: StreamCard | None, periods: Sequence[str]) -> Drift | None:
    """Return the total variation between the class mixes on a stream's card; None without any."""
    if card is None or [period.name for period in card.periods] != list(periods):
        return None
    names = sorted({name for period in card.periods for name in period.classes})
    counts = np.array([[p.classes.get(name, 0) for name in names] for p in card.periods], float)
    if len(names) < 2 or not counts.sum(axis=1).all():
        return None
    apart = np.array([[total_variation(p, q) for q in counts] for p in counts])
    words = "total variation of the class mix, from the stream's card"
    return Drift(apart, words, needs_labels=True)


def read_drift(path: Path, periods: Sequence[str], measure: str | None = None) -> Drift:
    """Read distances between periods from JSON, such as `onward drift --json` prints.

    It has ``periods``, each with its ``name``, and ``matrices`` by the name of a measure; or
    objects with ``from`` and ``to``, the names of two periods, and numbers, anywhere inside:
    ``{"pairs": [{"from": "2017", "to": "2018", "frechet": 1.2}]}``.

    Parameters
    ----------
    path
        The file.
    periods
        The names of the periods.
    measure
        Which matrix, or which number; by default the first that all of them have.
    """
    content = read_json(path, "JSON with distances between periods in", "Write it again")
    known = _matrices(content, periods) or _pairs(content, periods)
    if not known:
        raise OnwardError(
            f"expected distances between the periods {first_few(list(periods))} in {path}, as "
            "matrices or as pairs with 'from', 'to' and a number, found none of these"
        )
    if measure is not None and measure not in known:
        raise unknown("measure of drift", measure, known, f"see {path}")
    chosen = measure or next(iter(known))
    return Drift(known[chosen], f"{chosen}, from {path.name}", needs_labels=chosen in _OF_LABELS)


def _matrices(content: Any, periods: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return what a file has of all pairs; nothing if it is about other periods."""
    found = content if isinstance(content, dict) else {}
    listed, given = found.get("periods"), found.get("matrices")
    if not isinstance(listed, list) or not isinstance(given, dict):
        return {}
    names = [str(one.get("name") if isinstance(one, dict) else one) for one in listed]
    if not set(periods) <= set(names):
        return {}
    places = [names.index(name) for name in periods]
    matrices = {}
    for name, rows in given.items():
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            continue
        if {len(rows), *map(len, rows)} == {len(names)}:
            values = np.array([[_number(value) for value in row] for row in rows], np.float64)
            matrices[str(name)] = values[np.ix_(places, places)]
    return {name: values for name, values in matrices.items() if _says_something(values)}


def _pairs(content: Any, periods: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return what a file has of single pairs, NaN where it has none."""
    pairs = [one for one in _objects(content) if set(_ENDS) <= one.keys()]
    mine = [one for one in pairs if {str(one[end]) for end in _ENDS} <= set(periods)]
    names = [name for name in (mine[0] if mine else ()) if name not in _ENDS]
    names = [name for name in names if all(math.isfinite(_number(one.get(name))) for one in mine)]
    places, found = {name: at for at, name in enumerate(periods)}, {}
    for name in names:
        values = np.full((len(periods), len(periods)), np.nan)
        np.fill_diagonal(values, 0.0)
        for one in mine:
            first, second = (places[str(one[end])] for end in _ENDS)
            values[first, second] = values[second, first] = _number(one[name])
        found[name] = values
    return {name: values for name, values in found.items() if _says_something(values)}


def _says_something(values: NDArray[np.float64]) -> bool:
    """Whether any distance between two different periods is known."""
    return bool(np.isfinite(values[np.triu_indices(len(values), 1)]).any())


def _objects(content: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects inside of JSON, outer ones first; without recursion, however deep."""
    pending = [content]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
            item = list(item.values())
        if isinstance(item, list):
            pending.extend(reversed(item))


def _number(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number else math.nan
