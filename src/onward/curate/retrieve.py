"""``retrieve``: per bucket the best images of each concept, and some that show none of them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.curate.concepts import Concepts, write_concepts
from onward.curate.records import CANDIDATES, REMOVED, SCORES
from onward.curate.refill import Chosen, lowest, of_one_concept_only
from onward.curate.scan import Found, Groups, Scan, scan
from onward.curate.stage import Making, Stage
from onward.curate.store import Store
from onward.errors import OnwardError
from onward.files import write_atomic
from onward.table import Array, Rows

PARTS = 400
"""In how many parts scores from -1 to 1 are counted."""
_AT_A_TIME = 1024


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
class _Bucket:
    """What was chosen in one bucket, and the scores that it was chosen by."""

    number: int
    images: int
    top: int
    best: Chosen
    background: Chosen
    found: Mapping[str, list[Mapping[int, float]]]


def retrieve(
    store: Store,
    wanted: Wanted,
    making: Making,
    watch: Callable[[int], None] = lambda rows: None,
) -> Stage:
    """Choose candidates and write them.

    An image among the best of several concepts is a candidate of none, and the next best take its
    place, see `onward.curate.refill`. Background is what scores lowest, and is neither a candidate
    nor removed. A bucket that has fewer than `top` images for each concept is shared out evenly:
    there the best are fewer. Copies, which have an id that came before, are passed over.
    """
    buckets = store.buckets
    if (buckets < 0).all():
        buckets = np.zeros(len(store), np.int32)
    numbers, sizes = np.unique(buckets[buckets >= 0], return_counts=True)
    kept = ~np.isin(numbers, list(wanted.skip))
    if not kept.any():
        raise OnwardError(
            f"expected a bucket besides those that are skipped, found {numbers.tolist()} in all"
        )
    done, histogram = _choose(store, wanted, buckets, numbers[kept], sizes[kept], watch)
    names, folder = wanted.concepts.names, making.folder
    _write(folder / "candidates.parquet", _candidates(store, done, names), CANDIDATES)
    removed = [(one.number, row, of) for one in done for row, of in one.best.removed.items()]
    ids = store.ids(np.array([row for _, row, _ in removed], np.int64))
    of = [[names[concept + 1] for concept in concepts] for _, _, concepts in removed]
    columns = {"bucket": [bucket for bucket, _, _ in removed], "id": ids, "concepts": of}
    _write(folder / "removed.parquet", columns, REMOVED)
    _write(folder / "scores.parquet", _scores(histogram, numbers[kept], names[1:]), SCORES)
    write_atomic(folder / "concepts.json", write_concepts(wanted.concepts))
    scanned = int(sizes[kept].sum())
    return making.finish(
        {
            "images": scanned,
            "passed_over": len(store) - scanned,
            "buckets": len(done),
            "concepts": len(wanted.concepts.found),
            "candidates": sum(len(rows) for one in done for rows in one.best.rows),
            "background": sum(len(rows) for one in done for rows in one.background.rows),
            "removed": len(removed),
            "small_buckets": [
                {"bucket": one.number, "images": one.images, "top": one.top}
                for one in done
                if one.top < wanted.top
            ],
            "short": _short(done, wanted),
            "unmatched": _unmatched(store, wanted, done),
        }
    )


def _choose(
    store: Store,
    wanted: Wanted,
    buckets: Array,
    numbers: Array,
    sizes: Array,
    watch: Callable[[int], None],
) -> tuple[list[_Bucket], Array]:
    """Scan until no ranking runs out; buckets that have enough are not scanned again."""
    concepts = len(wanted.queries)
    best, worst = 2 * wanted.top, 2 * wanted.background
    done: dict[int, _Bucket] = {}
    histogram = None
    while len(done) < len(numbers):
        groups = np.full(len(store), -1, np.int16)
        for group, number in enumerate(numbers.tolist()):
            if group not in done:
                groups[buckets == number] = group
        seen = scan(
            store,
            Scan(
                wanted.queries,
                best,
                worst,
                Groups(groups, len(numbers)),
                PARTS if histogram is None else 0,
            ),
            watch=watch,
        )
        histogram = seen.histogram if histogram is None else histogram
        first_of = _first_of(store, seen)
        for group, (number, size) in enumerate(zip(numbers.tolist(), sizes.tolist(), strict=True)):
            if group in done:
                continue
            top = min(wanted.top, max(size // concepts, 1))
            rankings = {
                "best": [_without_copies(seen.best[group, c], first_of) for c in range(concepts)],
                "worst": [
                    _without_copies(seen.worst.get((group, c), _NOTHING), first_of)
                    for c in range(concepts)
                ],
            }
            chosen = of_one_concept_only([rows for _, rows in rankings["best"]], top)
            taken = np.concatenate([*chosen.rows, np.array([*chosen.removed], np.int64)])
            low = lowest([rows for _, rows in rankings["worst"]], wanted.background, taken)
            if (chosen.ran_out and best < size) or (low.ran_out and worst < size):
                continue
            found = {
                kind: [dict(zip(r.tolist(), s.tolist(), strict=True)) for s, r in rankings[kind]]
                for kind in rankings
            }
            done[group] = _Bucket(number, size, top, chosen, low, found)
        best, worst = 2 * best, 2 * worst
    return [done[group] for group in range(len(numbers))], np.asarray(histogram)


_NOTHING = (np.empty(0, np.float32), np.empty(0, np.int64))


def _first_of(store: Store, seen: Found) -> tuple[Rows, Rows]:
    """Return the rows of all rankings, and for each the first of them that has its id."""
    rankings = [rows for held in (seen.best, seen.worst) for _, rows in held.values()]
    rows = np.unique(np.concatenate(rankings))
    _, first, which = np.unique(store.ids(rows), return_index=True, return_inverse=True)
    return rows, rows[first[which]]


def _without_copies(ranking: tuple[Array, Rows], first_of: tuple[Rows, Rows]) -> tuple[Array, Rows]:
    scores, rows = ranking
    rows = first_of[1][np.searchsorted(first_of[0], rows)]
    places = np.sort(np.unique(rows, return_index=True)[1])
    return scores[places], rows[places]


def _candidates(store: Store, done: list[_Bucket], names: tuple[str, ...]) -> dict[str, Any]:
    held: dict[str, list[Any]] = {"bucket": [], "concept": [], "rank": [], "score": []}
    every: list[Rows] = []
    for one in done:
        low = [(row, c) for c, rows in enumerate(one.background.rows) for row in rows.tolist()]
        lists = [(names[0], [row for row, _ in low], [one.found["worst"][c][r] for r, c in low])]
        for concept, rows in enumerate(one.best.rows):
            scores = [one.found["best"][concept][row] for row in rows.tolist()]
            lists.append((names[concept + 1], rows.tolist(), scores))
        for name, rows_, scores in lists:
            every.append(np.array(rows_, np.int64))
            held["bucket"] += [one.number] * len(rows_)
            held["concept"] += [name] * len(rows_)
            held["rank"] += range(len(rows_))
            held["score"] += scores
    return {**held, "id": store.ids(np.concatenate(every))}


def _scores(histogram: Array, numbers: Array, names: tuple[str, ...]) -> dict[str, Any]:
    group, concept, part = np.nonzero(histogram)
    low = part * (2 / PARTS) - 1
    return {
        "bucket": numbers[group],
        "concept": [names[one] for one in concept],
        "low": low,
        "high": low + 2 / PARTS,
        "images": histogram[group, concept, part],
    }


def _short(done: list[_Bucket], wanted: Wanted) -> list[dict[str, Any]]:
    """Say where there are fewer than were asked for."""
    found = []
    for one in done:
        names = wanted.concepts.names
        low = sum(map(len, one.background.rows))
        rows = [(names[0], low, wanted.background * len(one.best.rows))]
        rows += [(n, len(r), wanted.top) for n, r in zip(names[1:], one.best.rows, strict=True)]
        found += [
            {"bucket": one.number, "concept": name, "found": count, "wanted": asked}
            for name, count, asked in rows
            if count < asked
        ]
    return found


def _unmatched(store: Store, wanted: Wanted, done: list[_Bucket]) -> list[dict[str, Any]]:
    """Name where a concept matches nothing.

    That is where none of its candidates scores above zero for it, and higher than for every other
    concept.
    """
    queries = wanted.queries.astype(np.float32)
    concepts, each, width = queries.shape
    found = []
    for one in done:
        for concept, rows in enumerate(one.best.rows):
            matched = False
            for first in range(0, len(rows), _AT_A_TIME):
                some = store.take(rows[first : first + _AT_A_TIME]).astype(np.float32)
                scores = (some @ queries.reshape(-1, width).T).reshape(-1, concepts, each).max(2)
                others = np.delete(scores, concept, 1).max(1, initial=0)
                matched = matched or bool((scores[:, concept] > others).any())
            if not matched:
                name = wanted.concepts.found[concept].name
                found.append({"bucket": one.number, "concept": name})
    return found


def _write(path: Path, columns: Mapping[str, Any], schema: pa.Schema) -> None:
    table = pa.table(
        {name: pa.array(columns[name], schema.field(name).type) for name in schema.names},
        schema=schema,
    )
    write_atomic(path, lambda file: pq.write_table(table, file))
