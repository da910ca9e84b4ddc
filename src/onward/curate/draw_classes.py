"""Which pairs are to be classified: their captions name one class, and are about what it is."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.curate.dated_classes import DatedClass, Naming
from onward.curate.draw_tests import Looks, drawn
from onward.curate.pair_rows import PairRows
from onward.table import Array

UNLIKE = "not similar to the definition"

Directions = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Classified:
    """Pairs and their classes; and how many captions were looked at, and what was said of them."""

    rows: Array
    labels: Array
    captions: Mapping[str, int]


def named_rows(
    rows: PairRows, looks: Looks, naming: Naming, watch: Callable[[int], None]
) -> tuple[dict[int, int], Counter[str]]:
    """Return the class of each pair whose caption names one, and how many do not, by reason."""
    found: dict[int, int] = {}
    said: Counter[str] = Counter()
    for row, caption in rows.captions():
        watch(1)
        if looks.whole[row]:
            number, reason = naming(caption)
            if number is not None:
                found[row] = number
            else:
                said[str(reason)] += 1
    return found, said


def classified(
    rows: PairRows,
    looks: Looks,
    named: Mapping[int, int],
    classes: Sequence[DatedClass],
    directions: Directions,
    order: Array,
    *,
    most: int,
    least: float,
) -> Classified:
    """Draw pairs of each bucket and class whose captions are similar to the class's definition.

    Captions are read in the drawn order, and no more of them than are needed.
    """
    if not named:
        return Classified(np.empty(0, np.int64), np.empty(0, np.int64), {})
    definitions = directions([one.definition for one in classes])
    waiting: dict[tuple[int, int], list[int]] = {}
    for row in sorted(named, key=lambda row: (order[row], row)):
        waiting.setdefault((int(rows.buckets[row]), named[row]), []).append(row)
    fitting: dict[tuple[int, int], list[int]] = {key: [] for key in waiting}
    chosen: dict[tuple[int, int], list[int]] = {key: [] for key in waiting}
    unlike = 0
    while True:
        asked = {
            key: waiting[key][: 2 * most]
            for key in waiting
            if waiting[key] and len(chosen[key]) < most
        }
        if not asked:
            break
        some = np.array(sorted(row for mine in asked.values() for row in mine))
        captions = [one["caption"] for one in rows.taken(some)]
        labels = np.array([named[row] for row in some.tolist()])
        alike = (directions(captions) * definitions[labels]).sum(1)
        good = set(some[alike >= least].tolist())
        unlike += len(some) - len(good)
        for key, mine in asked.items():
            waiting[key] = waiting[key][len(mine) :]
            fitting[key] += [row for row in mine if row in good]
            chosen[key] = drawn(rows, looks, fitting[key], most, captions=False)
    found = np.array(sorted(row for mine in chosen.values() for row in mine), np.int64)
    labels = np.array([named[row] for row in found.tolist()], np.int64)
    return Classified(found, labels, {UNLIKE: unlike} if unlike else {})
