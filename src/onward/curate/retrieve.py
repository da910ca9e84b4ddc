"""``retrieve``: per bucket the best images of each concept, and some that show none of them."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onward.curate.choose import PARTS, Bucket, Wanted, choose
from onward.curate.concepts import CONCEPTS, write_concepts
from onward.curate.records import CANDIDATES, REMOVED, SCORES
from onward.curate.store import Store
from onward.curate.written import write_table
from onward.errors import OnwardError, first_few
from onward.files import write_atomic
from onward.table import Array, Rows

_AT_A_TIME = 1024


def buckets_searched(store: Store, skip: Collection[int]) -> tuple[Array, list[int]]:
    """Return the bucket of each row, and which of them are searched."""
    buckets = store.buckets
    if (buckets < 0).all():
        buckets = np.zeros(len(store), np.int32)
    every = np.unique(buckets[buckets >= 0]).tolist()
    numbers = [number for number in every if number not in skip]
    strange = sorted(set(skip) - set(every))
    if strange:
        raise OnwardError(
            f"expected buckets to skip among {first_few(every)}, found {first_few(strange)}. Take "
            "one that is there, or skip none"
        )
    if not numbers:
        raise OnwardError(f"expected a bucket besides those that are skipped, found {every} in all")
    return buckets, numbers


def retrieve(
    store: Store,
    wanted: Wanted,
    folder: Path,
    watch: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Choose candidates and write them into a folder; return what was counted.

    An image among the best of several concepts is a candidate of none, and the next best take its
    place. Where that would use a bucket up, fewer than `top` are chosen of each concept there, see
    `onward.curate.refill`. Background is what scores lowest, and is neither a candidate nor
    removed. Copies, which have an id that came before, are passed over.
    """
    buckets, numbers = buckets_searched(store, wanted.skip)
    done, histogram = choose(store, wanted, buckets, numbers, watch)
    names = wanted.concepts.names
    _write(folder / "candidates.parquet", _candidates(store, done, names), CANDIDATES)
    removed = [(one.number, row, of) for one in done for row, of in one.best.removed.items()]
    ids = store.ids(np.array([row for _, row, _ in removed], np.int64))
    of = [[names[concept + 1] for concept in concepts] for _, _, concepts in removed]
    columns = {"bucket": [bucket for bucket, _, _ in removed], "id": ids, "concepts": of}
    _write(folder / "removed.parquet", columns, REMOVED)
    _write(folder / "scores.parquet", _scores(histogram, numbers, names[1:]), SCORES)
    write_atomic(folder / CONCEPTS, write_concepts(wanted.concepts))
    scanned = sum(one.images for one in done)
    return {
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


def _candidates(store: Store, done: list[Bucket], names: tuple[str, ...]) -> dict[str, Any]:
    held: dict[str, list[Any]] = {"bucket": [], "concept": [], "rank": [], "score": []}
    every: list[Rows] = []
    for one in done:
        low = [(row, c) for c, rows in enumerate(one.background.rows) for row in rows.tolist()]
        lists = [(names[0], [row for row, _ in low], [one.low_scores[c][r] for r, c in low])]
        for concept, rows in enumerate(one.best.rows):
            scores = [one.best_scores[concept][row] for row in rows.tolist()]
            lists.append((names[concept + 1], rows.tolist(), scores))
        for name, rows_, scores in lists:
            every.append(np.array(rows_, np.int64))
            held["bucket"] += [one.number] * len(rows_)
            held["concept"] += [name] * len(rows_)
            held["rank"] += range(len(rows_))
            held["score"] += scores
    return {**held, "id": store.ids(np.concatenate(every))}


def _scores(histogram: Array, numbers: list[int], names: tuple[str, ...]) -> dict[str, Any]:
    group, concept, part = np.nonzero(histogram)
    low = part * (2 / PARTS) - 1
    return {
        "bucket": np.array(numbers)[group],
        "concept": [names[one] for one in concept],
        "low": low,
        "high": low + 2 / PARTS,
        "images": histogram[group, concept, part],
    }


def _short(done: list[Bucket], wanted: Wanted) -> list[dict[str, Any]]:
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


def _unmatched(store: Store, wanted: Wanted, done: list[Bucket]) -> list[dict[str, Any]]:
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
    write_table(path, table)
