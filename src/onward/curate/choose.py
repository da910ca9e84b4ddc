"""Choosing candidates, bucket by bucket, with as few looks at the pool as possible."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from onward.curate.concepts import Concepts
from onward.curate.looking import Found, Groups, Scan
from onward.curate.refill import Chosen, as_many_as_possible, lowest
from onward.curate.scan import scan
from onward.curate.store import Store
from onward.table import Array, Rows

PARTS = 400
"""In how many parts scores from -1 to 1 are counted."""
# How many times as many as are wanted are ranked at most, before fewer are wanted.
_DEEPEST = 16
Ranking = tuple[Array, Rows]
_NOTHING: Ranking = (np.empty(0, np.float32), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is to be retrieved.

    Parameters
    ----------
    concepts, queries
        What is looked for, and its directions (concept, one or more, width).
    top
        How many images of each concept and bucket.
    background
        How many of the lowest-scoring images of each concept make the background of a bucket.
    skip
        Buckets that are left alone.
    """

    concepts: Concepts
    queries: Array
    top: int = 600
    background: int = 60
    skip: Collection[int] = ()


@dataclass(frozen=True, eq=False)
class Bucket:
    """What was chosen in one bucket.

    Parameters
    ----------
    number, images
        Which bucket, and how many images it has.
    top
        How many images of each concept were asked for in the end.
    best, background
        The rows of each concept.
    best_scores, low_scores
        For each concept the scores by row.
    """

    number: int
    images: int
    top: int
    best: Chosen
    background: Chosen
    best_scores: list[dict[int, float]]
    low_scores: list[dict[int, float]]


def choose(
    store: Store,
    wanted: Wanted,
    buckets: Array,
    numbers: list[int],
    watch: Callable[[int], None] = lambda rows: None,
) -> tuple[list[Bucket], Array]:
    """Return what was chosen in each bucket, and a histogram by bucket and concept.

    Twice as many as are wanted are ranked. Where that is not enough to take the place of what is
    removed, the pool is scanned again for more, without the buckets that have enough.
    """
    sizes = {number: int((buckets == number).sum()) for number in numbers}
    best, worst = 2 * wanted.top, 2 * wanted.background
    done: dict[int, Bucket] = {}
    histogram: Array | None = None
    while len(done) < len(numbers):
        groups = np.full(len(store), -1, np.int16)
        for group, number in enumerate(numbers):
            if number not in done:
                groups[buckets == number] = group
        parts = PARTS if histogram is None else 0
        asked = Scan(wanted.queries, best, worst, Groups(groups, len(numbers)), parts)
        seen = scan(store, asked, watch=watch)
        histogram = seen.histogram if histogram is None else histogram
        first_of = _first_of(store, seen)
        for group, number in enumerate(numbers):
            if number not in done:
                found = _bucket(seen, group, number, sizes[number], wanted, first_of)
                deeper = best < min(_DEEPEST * wanted.top, sizes[number])
                lower = worst < min(
                    (_DEEPEST + len(wanted.queries)) * wanted.background, sizes[number]
                )
                if not ((found.best.ran_out and deeper) or (found.background.ran_out and lower)):
                    done[number] = found
        best, worst = 2 * best, 2 * worst
    return [done[number] for number in numbers], np.asarray(histogram)


def _bucket(
    seen: Found, group: int, number: int, size: int, wanted: Wanted, first_of: tuple[Rows, Rows]
) -> Bucket:
    concepts = range(len(wanted.queries))
    ranked, low = (
        [_without_copies(held.get((group, one), _NOTHING), first_of) for one in concepts]
        for held in (seen.best, seen.worst)
    )
    top, best = as_many_as_possible([rows for _, rows in ranked], wanted.top)
    taken = np.concatenate([*best.rows, np.array([*best.removed], np.int64)])
    background = lowest([rows for _, rows in low], wanted.background, taken)
    # That fewer had to do for the best is the same as that there were not enough.
    best = Chosen(best.rows, best.removed, best.ran_out or top < wanted.top)
    return Bucket(number, size, top, best, background, _by_row(ranked), _by_row(low))


def _by_row(rankings: list[Ranking]) -> list[dict[int, float]]:
    return [dict(zip(rows.tolist(), s.tolist(), strict=True)) for s, rows in rankings]


def _first_of(store: Store, seen: Found) -> tuple[Rows, Rows]:
    """Return the rows of all rankings, and for each the first of them that has its id."""
    rankings = [rows for held in (seen.best, seen.worst) for _, rows in held.values()]
    rows = np.unique(np.concatenate(rankings))
    _, first, which = np.unique(store.ids(rows), return_index=True, return_inverse=True)
    return rows, rows[first[which]]


def _without_copies(ranking: Ranking, first_of: tuple[Rows, Rows]) -> Ranking:
    scores, rows = ranking
    rows = first_of[1][np.searchsorted(first_of[0], rows)]
    places = np.sort(np.unique(rows, return_index=True)[1])
    return scores[places], rows[places]
