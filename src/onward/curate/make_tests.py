"""``onward curate tests``: pairs that test each bucket, apart from those to learn from."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.binary_files import read_parquet
from onward.curate.dated_classes import DatedClasses, Naming, read_classes
from onward.curate.draw_classes import Classified, Directions, classified, named_rows
from onward.curate.draw_tests import Looks, drawn, in_drawn_order, too_like
from onward.curate.embed_images import images_digest
from onward.curate.images import Shard, image_shards
from onward.curate.lineage import LINEAGE, lineage_of, write_lineage
from onward.curate.looked_at import look_at_images
from onward.curate.pair_rows import PairRows, read_pair_rows
from onward.curate.pool_rows import write_dropped
from onward.curate.records import ASKED, DATED
from onward.curate.stage import Stage, making, open_stage
from onward.curate.watching import Watch, unwatched
from onward.curate.written import json_of, write_table
from onward.data.uid_lists import places_in, uids_of
from onward.data.wordnet import find_nouns
from onward.errors import OnwardError, first_few
from onward.files import remove_drafts, write_atomic
from onward.table import Array

GONE, BLANK = "image is missing", "caption without words"
RETRIEVAL, CLASSES, CLASS_LIST = "retrieval.parquet", "classes.parquet", "classes.json"


@dataclass(frozen=True)
class AskedOptions:
    """What is tested.

    Parameters
    ----------
    retrieval
        How many pairs of each bucket are to find each other.
    classes
        ``imagenet``, or a file of words or numbers of WordNet; None for no classification.
    subtrees
        Words: the classes below each of them are a part of their own.
    per_class
        How many pairs of each class and bucket are to be classified, at most.
    similarity
        Of a caption with the definition of its class, at least.
    wordnet, sentences
        Folders, where they are not in the usual places: see `onward.data.wordnet.find_nouns` and
        `onward.models.sentences.Sentences`.
    seed
        Draws the pairs.
    """

    retrieval: int = 1000
    classes: str | None = None
    subtrees: tuple[str, ...] = ()
    per_class: int = 50
    similarity: float = 0.5
    wordnet: Path | None = None
    sentences: Path | None = None
    seed: int = 0


def make_tests(
    pairs: Path,
    images: Path,
    out: Path,
    options: AskedOptions,
    *,
    directions: Directions | None = None,
    watch: Watch = unwatched,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Draw tests from each bucket, and leave what is not like them to be learned from.

    Parameters
    ----------
    pairs
        A folder of ``onward curate date`` or ``onward curate filter``.
    images
        Where the images lie: files, or tar shards. Those that are missing or broken are left out.
    out
        Where to.
    options
        What is tested.
    directions
        What compares captions with definitions; the sentence model of the options by default.
    watch, on_wait
        Shows progress; called if another process is at work on the same folder.
    """
    stage = open_stage(pairs, "date", "filter")
    shards = image_shards(images)
    given: DatedClasses | None = None
    if options.classes is not None:
        from onward.models.sentences import Sentences  # heavy

        nouns = find_nouns(options.wordnet)
        given = read_classes(options.classes, nouns, options.subtrees)
        directions = directions or Sentences(options.sentences)
    elif options.subtrees:
        raise OnwardError("expected classes for the subtrees, found none. Name them with --classes")
    told = asdict(options) | {"pairs": stage.digest, "images": images_digest(shards)}
    told |= {"wordnet": None, "sentences": getattr(directions, "name", None)}
    told["classes"] = None if given is None else given.as_json()
    with making(out, "tests", told, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        remove_drafts(out)
        rows = read_pair_rows(stage)
        names = _names(stage, rows)
        _enough(rows, options.retrieval, names)
        with watch(len(rows), "images", "looking at") as step:
            looks, problems = _looks(rows, shards, out, step)
        order = in_drawn_order(rows, options.seed)
        retrieval = _drawn_by_bucket(rows, looks, order, options.retrieval)
        found, said = Classified(*2 * (np.empty(0, np.int64),), {}), Counter[str]()
        if given is not None and directions is not None:
            with watch(len(rows), "captions", "reading") as step:
                named, said = named_rows(rows, looks, Naming(given.classes, nouns), step)
            found = classified(
                rows,
                looks,
                named,
                given.classes,
                directions,
                order,
                most=options.per_class,
                least=options.similarity,
            )
            said.update(found.captions)
        like = too_like(rows, looks, retrieval, found.rows)
        reasons = {**problems, **like}
        kept = looks.whole.copy()
        kept[retrieval] = kept[found.rows] = False
        for mask in like.values():
            kept &= ~mask
        counts = _counts(rows, names, kept, retrieval, found, reasons, options)
        counts["captions"] = dict(said)
        _some_left(counts)
        _write_asked(out / RETRIEVAL, rows, retrieval, None)
        if given is not None:
            _write_asked(out / CLASSES, rows, found.rows, found.labels)
            counts["classes"] = _by_class(given, found)
            write_atomic(out / CLASS_LIST, json_of(given.as_json()))
        _write_rows(out, rows, kept, reasons)
        write_lineage(out / LINEAGE, lineage_of(stage))
        return made.finish(counts)


def _names(stage: Stage, rows: PairRows) -> dict[int, str]:
    """Return what buckets are called: as the stage says, else the year of the first pair."""
    told = stage.counts.get("buckets", ())
    found = {}
    for bucket in np.unique(rows.buckets).tolist():
        name = told[bucket].get("name") if bucket < len(told) else None
        first = rows.times[rows.buckets == bucket].min()
        found[bucket] = str(name or first.astype("datetime64[us]").astype("datetime64[M]"))
    return found


def _enough(rows: PairRows, wanted: int, names: Mapping[int, str]) -> None:
    """Refuse early what would leave nothing to learn from."""
    sizes = {bucket: int((rows.buckets == bucket).sum()) for bucket in names}
    few = [f"{names[bucket]} has {size:,}" for bucket, size in sizes.items() if size <= wanted]
    if few:
        raise OnwardError(
            f"expected more than {wanted:,} pairs in every bucket, of which so many are to be "
            f"tested with, found fewer: {first_few(few)}. Ask for fewer with --retrieval, or cut "
            "time more coarsely with onward curate date --every"
        )


def _looks(
    rows: PairRows, shards: Sequence[Shard], out: Path, watch: Callable[[int], None]
) -> tuple[Looks, dict[str, Array]]:
    """Return what the images of pairs look like, and which have none that can be used."""
    order = np.argsort(rows.uids, kind="stable")
    ordered = rows.uids[order]
    same, near = np.zeros(len(rows), np.uint64), np.zeros(len(rows), np.uint64)
    there = np.zeros(len(rows), np.bool_)
    problems: dict[str, Array] = {}
    for table in look_at_images(shards, ordered, out, watch):
        if not len(table):
            continue
        place = order[places_in(ordered, uids_of(table.column("id").to_pylist()))]
        fresh = ~there[place]
        # If an image lies in two places, the first one counts.
        same[place[fresh]] = table.column("same").to_numpy()[fresh]
        near[place[fresh]] = table.column("near").to_numpy()[fresh]
        for row, problem in zip(place[fresh], table.column("problem").to_pylist(), strict=False):
            if problem is not None:
                problems.setdefault(problem, np.zeros(len(rows), np.bool_))[row] = True
        there[place] = True
    if not there.any():
        raise OnwardError(
            f"expected images with the ids of pairs in {shards[0].path.parent}, found none. Fetch "
            "them: onward curate fetch PAIRS --out DIR"
        )
    whole = there.copy()
    for mask in problems.values():
        whole &= ~mask
    problems = {GONE: ~there, BLANK: whole & rows.blank} | problems
    return Looks(same, near, whole & ~rows.blank), problems


def _drawn_by_bucket(rows: PairRows, looks: Looks, order: Array, most: int) -> Array:
    found: list[int] = []
    for bucket in np.unique(rows.buckets).tolist():
        mine = np.flatnonzero((rows.buckets == bucket) & looks.whole)
        mine = mine[np.argsort(order[mine], kind="stable")]
        found += drawn(rows, looks, mine.tolist(), most, captions=True)
    return np.array(sorted(found), np.int64)


def _counts(
    rows: PairRows,
    names: Mapping[int, str],
    kept: Array,
    retrieval: Array,
    found: Classified,
    reasons: Mapping[str, Array],
    options: AskedOptions,
) -> dict[str, Any]:
    asked, known = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    asked[retrieval], known[found.rows] = True, True
    buckets: list[dict[str, Any]] = []
    for bucket, name in names.items():
        mine = rows.buckets == bucket
        times = rows.times[mine & kept].astype("datetime64[us]").astype("datetime64[D]")
        buckets.append(
            {
                "bucket": bucket,
                "name": name,
                "pairs": int(mine.sum()),
                "rows": int((mine & kept).sum()),
                "retrieval": int((mine & asked).sum()),
                "classified": int((mine & known).sum()),
                "both": int((mine & known & asked).sum()),
                "dropped": _counted(reasons, mine),
                "first": str(times.min()) if len(times) else None,
                "last": str(times.max()) if len(times) else None,
            }
        )
    return {
        "pairs": len(rows),
        "rows": int(kept.sum()),
        "retrieval": len(retrieval),
        "classified": len(found.rows),
        "dropped": _counted(reasons, np.ones(len(rows), np.bool_)),
        "short": [one["name"] for one in buckets if one["retrieval"] < options.retrieval],
        "buckets": buckets,
    }


def _counted(reasons: Mapping[str, Array], mine: Array) -> dict[str, int]:
    numbers = {reason: int((mask & mine).sum()) for reason, mask in reasons.items()}
    return {reason: number for reason, number in numbers.items() if number}


def _some_left(counts: Mapping[str, Any]) -> None:
    empty = [one for one in counts["buckets"] if not one["rows"]]
    if empty:
        why = [f"{reason}: {number:,}" for reason, number in empty[0]["dropped"].items()]
        raise OnwardError(
            f"expected pairs left to learn from in every bucket, found none in "
            f"{first_few([one['name'] for one in empty])} ({empty[0]['pairs']:,} pairs, "
            f"{empty[0]['retrieval']:,} for retrieval, {empty[0]['classified']:,} to classify; "
            f"{first_few(why, '; ') or 'none dropped'}). Ask for fewer with --retrieval or "
            "--per-class, or fetch the missing images"
        )


def _by_class(given: DatedClasses, found: Classified) -> dict[str, int]:
    numbers = np.bincount(found.labels, minlength=len(given.classes)).tolist()
    return {one.name: number for one, number in zip(given.classes, numbers, strict=True)}


def _write_asked(path: Path, rows: PairRows, asked: Array, labels: Array | None) -> None:
    taken = rows.taken(asked)
    for place, one in enumerate(taken):
        one["bucket"] = int(rows.buckets[asked[place]])
        one["class"] = None if labels is None else int(labels[place])
    write_table(path, pa.Table.from_pylist(taken, ASKED))


def _write_rows(out: Path, rows: PairRows, kept: Array, reasons: Mapping[str, Array]) -> None:
    why: Sequence[str] = list(reasons)
    number = np.full(len(rows), -1)
    for place, mask in enumerate(reasons.values()):
        number[mask] = place
    for part in rows.parts:
        span = slice(part.rows.start, part.rows.stop)
        table = read_parquet(part.path, DATED.names).cast(DATED)
        name = part.path.relative_to(part.path.parents[1])
        left = table.filter(pa.array(kept[span]))
        if len(left):
            write_atomic(
                out / "rows" / name,
                partial(pq.write_table, left, compression="zstd"),
            )
        gone = np.flatnonzero(number[span] >= 0)
        if len(gone):
            said = pa.array([why[one] for one in number[span][gone]], pa.string())
            ids = table.column("id").take(gone)
            path = out / "dropped" / f"{name.parent}-{name.name}"
            write_dropped(ids, said, f"rows/{name.as_posix()}", path)
