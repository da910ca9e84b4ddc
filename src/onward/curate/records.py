"""What lies in the folders of curation: one Arrow schema per kind of record.

=============  ======================================================================
``pool``       ``rows/<bucket>/<part>.parquet`` with `POOL`, ``dropped/*.parquet`` with `DROPPED`
``fetch``      ``<shard>.tar`` in img2dataset's layout, ``<shard>.parquet`` with `FETCHED`
``embed``      ``<shard>.npy`` of float16 directions of length one, ``<shard>.parquet`` with
               `EMBEDDED`, row by row; ``corrupt.csv`` with what could not be read
``retrieve``   ``candidates.parquet`` with `CANDIDATES`, ``concepts.json``; ``removed.parquet`` with
               `REMOVED`, ``scores.parquet`` with `SCORES`
``review``     ``campaign.sqlite``, with everything; ``votes.parquet`` with `VOTES` when exported
``accept``     ``labelled.parquet`` with `LABELLED`, ``rejected.parquet`` with `REJECTED`
``date``       as ``pool``, in calendar buckets, with `DATED`; ``dropped/*.parquet`` with `DROPPED`
``filter``     as ``date``: what is left; ``dropped/*.parquet`` with `DROPPED`
``tests``      as ``date``: what is left to learn from; ``retrieval.parquet`` with `ASKED`,
               ``classes.parquet`` with `ASKED`, ``classes.json``; ``dropped/*.parquet``
=============  ======================================================================

What is made of images and captions goes ``date``, ``filter``, ``tests``, ``shards``; each takes
what the one before it wrote, and ``filter`` and ``tests`` also an earlier one's.

Buckets are numbered from 0, the earliest, and their folders have two digits or more: names sort as
numbers do. An id is a text, and is the same in all of them.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

MOMENT = pa.timestamp("us", "UTC")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

POOL = pa.schema(
    [
        ("id", pa.string()),
        ("time", MOMENT),
        ("taken", MOMENT),
        ("url", pa.string()),
        ("page", pa.string()),
        ("author", pa.string()),
        ("title", pa.string()),
        ("caption", pa.string()),
        ("licence", pa.string()),
        ("licence_url", pa.string()),
    ]
)
"""A row of a pool; null where the metadata had nothing. Sorted by time, then id, in all parts."""

DATED = POOL.append(pa.field("width", pa.int32())).append(pa.field("height", pa.int32()))
"""A pair of image and caption whose time is the month in which it was first seen.

Its id has 32 hexadecimal digits. Sorted as a pool is; every verb that reads a pool reads it."""

ASKED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("id", pa.string()),
        ("time", MOMENT),
        ("caption", pa.string()),
        ("class", pa.int32()),
    ]
)
"""A pair that tests its bucket; its class is the place in ``classes.json``, null in retrieval."""

DROPPED = pa.schema([("source", pa.string()), ("id", pa.string()), ("reason", pa.string())])
"""A row of metadata that was not kept, and why."""

FETCHED = pa.schema(
    [("id", pa.string()), ("key", pa.string()), ("url", pa.string()), ("status", pa.string())]
)
"""What became of a download: ``success``, or the reason of its failure."""

EMBEDDED = pa.schema([("id", pa.string()), ("bucket", pa.int32())])
"""Which image a direction is of, and in which bucket its pool has it; -1 where it has none."""

CANDIDATES = pa.schema(
    [
        ("bucket", pa.int32()),
        ("concept", pa.string()),
        ("rank", pa.int32()),
        ("id", pa.string()),
        ("score", pa.float32()),
    ]
)
"""An image to be reviewed, by bucket, concept and rank; the background is a concept of its own.

Ranks begin with 0, the best."""

REMOVED = pa.schema(
    [("bucket", pa.int32()), ("id", pa.string()), ("concepts", pa.list_(pa.string()))]
)
"""An image that is no candidate, since it ranked among the best of several concepts."""

SCORES = pa.schema(
    [
        ("bucket", pa.int32()),
        ("concept", pa.string()),
        ("low", pa.float32()),
        ("high", pa.float32()),
        ("images", pa.int64()),
    ]
)
"""How many images of a whole bucket score between two numbers for a concept."""

VOTES = pa.schema(
    [
        ("id", pa.string()),
        ("annotator", pa.string()),
        ("labels", pa.list_(pa.string())),
        ("sensitive", pa.bool_()),
        ("seconds", pa.float32()),
        ("at", MOMENT),
    ]
)
"""What one annotator said about one image: names of concepts, none of them for "none of these"."""

LABELLED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("concept", pa.string()),
        ("id", pa.string()),
        ("certainty", pa.float32()),
    ]
)
"""An accepted image. Its certainty is the share of votes for it, or what a model says of them."""

REJECTED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("concept", pa.string()),
        ("id", pa.string()),
        ("reason", pa.string()),
    ]
)
"""A candidate that was not accepted, under the concept it was found for, and why."""


def row_files(folder: Path) -> list[tuple[int, Path]]:
    """Return the bucket and the file of every part of a pool, or of pairs, in order of time."""
    files = (folder / "rows").glob("*/*.parquet")
    return sorted((int(path.parent.name), path) for path in files if path.parent.name.isdecimal())


def moment_of(micros: int) -> datetime:
    """Return the moment that is so many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=micros)


def micros_since(moment: datetime) -> int:
    """Return how many microseconds after the beginning of 1970 a moment is."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def said(moment: datetime) -> str:
    """Return a moment as it is written in counts."""
    return moment.isoformat().replace("+00:00", "Z")
