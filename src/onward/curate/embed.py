"""``embed``: a store of directions, from images or from what somebody else has computed."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.binary_files import read_parquet
from onward.curate.pool_buckets import PoolBuckets, hashed, ids_in
from onward.curate.records import EMBEDDED
from onward.curate.stage import Stage
from onward.curate.written import csv_of, write_table
from onward.errors import OnwardError
from onward.files import remove_drafts, write_atomic
from onward.table import Array

PART_ROWS = 1 << 14
"""How many directions a shard has at most: what a kill may cost, and what is held in memory."""
CORRUPT = "corrupt.csv"
_ZERO, _NOT_FINITE = "a vector of zeros", "NaN or infinity in its vector"


@dataclass(frozen=True)
class Wrong:
    """Something that has no direction, and why."""

    id: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Loaded:
    """What is known of a part: vectors by id, and what has none."""

    ids: Sequence[str]
    vectors: Array
    wrong: Sequence[Wrong] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """Some vectors that become one shard, made when they are asked for."""

    name: str
    load: Callable[[], Loaded]


def embed(
    parts: Iterator[Part],
    folder: Path,
    pool: Stage | None = None,
    watch: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Write a store, part by part; those that are there already are not made again.

    Returns what was counted.

    Parameters
    ----------
    parts
        The same ones each time, in the same order.
    folder
        Where to.
    pool
        Says in which bucket an id is.
    watch
        Called with the number of vectors of each part.
    """
    remove_drafts(folder)
    known = None if pool is None else PoolBuckets(pool)
    names: dict[str, None] = {}
    width = None
    for part in parts:
        if part.name in names:
            raise OnwardError(
                f"expected shards with different names, found two that are called {part.name!r}. "
                "Rename one"
            )
        names[part.name] = None
        if not (folder / f"{part.name}.parquet").is_file():
            loaded = part.load()
            width = _require_width(loaded.vectors, width, part.name)
            _write(folder, part.name, loaded, known)
        rows = pq.read_metadata(folder / f"{part.name}.parquet").num_rows
        width = np.load(folder / f"{part.name}.npy", mmap_mode="r").shape[1] if rows else width
        watch(rows)
    return _counted(folder, list(names), width, known)


def unit(vectors: Array) -> tuple[Array, Array, Array]:
    """Return directions of length one as float16, which rows are zero, and which are not finite.

    Examples
    --------
    >>> found, zero, strange = unit(np.array([[3e30, 4e30], [0, 0], [1, np.nan]]))
    >>> found[0].round(1).tolist(), zero.tolist(), strange.tolist()
    ([0.60009765625, 0.7998046875], [False, True, False], [False, False, True])
    """
    values = np.asarray(vectors, np.float64 if vectors.dtype.itemsize > 4 else np.float32)
    strange = ~np.isfinite(values).all(1)
    values = np.where(strange[:, None], 0, values)
    # First by the largest number, so that no square is too large or too small.
    largest = np.abs(values).max(1, keepdims=True, initial=0)
    zero = (largest[:, 0] == 0) & ~strange
    values = (values / np.where(largest > 0, largest, 1)).astype(np.float32)
    length = np.sqrt((values**2).sum(1, keepdims=True))
    return (values / np.where(length > 0, length, 1)).astype(np.float16), zero, strange


def _require_width(vectors: Array, width: int | None, name: str) -> int | None:
    if not len(vectors):
        return width
    if width is not None and vectors.shape[1] != width:
        raise OnwardError(
            f"expected vectors of {width:,} numbers as before, found {vectors.shape[1]:,} in "
            f"{name}. A store holds those of one model"
        )
    return int(vectors.shape[1])


def _write(folder: Path, name: str, loaded: Loaded, known: PoolBuckets | None) -> None:
    directions, zero, strange = unit(loaded.vectors)
    good = ~(zero | strange)
    wrong = list(loaded.wrong)
    wrong += [Wrong(loaded.ids[row], _ZERO) for row in np.flatnonzero(zero).tolist()]
    wrong += [Wrong(loaded.ids[row], _NOT_FINITE) for row in np.flatnonzero(strange).tolist()]
    ids = [loaded.ids[row] for row in np.flatnonzero(good).tolist()]
    buckets = np.full(len(ids), -1, np.int32) if known is None else known.of(hashed(ids))
    rows = [[name, one.id, one.reason, one.detail] for one in wrong]
    if rows:
        write_atomic(folder / "corrupt" / f"{name}.csv", csv_of(rows))
    write_atomic(folder / f"{name}.npy", lambda file: np.save(file, directions[good]))
    table = pa.table({"id": pa.array(ids, pa.string()), "bucket": buckets}, schema=EMBEDDED)
    # Written last: a shard with this file is whole.
    write_table(folder / f"{name}.parquet", table)


def _counted(
    folder: Path, names: list[str], width: int | None, known: PoolBuckets | None
) -> dict[str, Any]:
    """Count what lies there, list what is wrong, and what is there twice."""
    hashes, buckets = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for name in names:
        path = folder / f"{name}.parquet"
        hashes += [hashed(ids) for ids in ids_in(path)]
        buckets.append(
            read_parquet(path, ["bucket"], fix="Make the store again").column(0).to_numpy()
        )
    every = np.concatenate(hashes)
    if known is not None:
        known.of(every)
    if not len(every):
        raise OnwardError(
            f"expected one image at least that can be read, found none. See {folder / 'corrupt'}"
        )
    rows = [row for name in names for row in _read_csv(folder / "corrupt" / f"{name}.csv")]
    write_atomic(folder / CORRUPT, csv_of([["shard", "id", "reason", "detail"], *rows]))
    held = np.concatenate(buckets)
    counts: dict[str, Any] = {
        "found": len(every) + len(rows),
        "embedded": len(every),
        "width": width,
        "shards": len(names),
        "corrupt": dict(Counter(row[2] for row in rows)),
        "twice": _twice(folder, names, every),
    }
    if known is not None:
        numbers, sizes = np.unique(held[held >= 0], return_counts=True)
        counts |= {
            "buckets": dict(zip(map(str, numbers.tolist()), sizes.tolist(), strict=True)),
            "outside_the_pool": int((held < 0).sum()),
            "without_a_direction": known.never_asked,
        }
    return counts


def _twice(folder: Path, names: list[str], hashes: Array) -> int:
    """Return how many rows have an id that came before, and list them."""
    found, counts = np.unique(hashes, return_counts=True)
    twice = set(found[counts > 1].tolist())
    seen: set[str] = set()
    rows = [["shard", "id"]]
    for name in names if twice else []:
        for ids in ids_in(folder / f"{name}.parquet"):
            for one in ids:
                if hash(one) in twice:
                    if one in seen:
                        rows.append([name, one])
                    seen.add(one)
    write_atomic(folder / "twice.csv", csv_of(rows))
    return len(rows) - 1


def _read_csv(path: Path) -> list[list[str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def told(counts: Mapping[str, Any]) -> list[str]:
    """Return in words what was left out, and what else is to be known."""
    lines = [f"{count:,} of no use: {reason}" for reason, count in counts["corrupt"].items()]
    if counts["twice"]:
        lines.append(f"{counts['twice']:,} with an id that came before, see twice.csv")
    if counts.get("outside_the_pool"):
        lines.append(f"{counts['outside_the_pool']:,} that the pool has not; retrieve passes over")
    if counts.get("without_a_direction"):
        lines.append(f"{counts['without_a_direction']:,} of the pool that have no direction here")
    return lines
