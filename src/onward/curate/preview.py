"""``preview``: one page with some candidates of each concept and bucket, to tune prompts by."""

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from onward.binary_files import read_parquet
from onward.curate.concepts import CONCEPTS, Concepts, read_concepts
from onward.curate.images import Place, find_images
from onward.curate.score_histogram import histogram_svg
from onward.curate.stage import Stage, making, open_stage
from onward.data.folder_images import opened_image
from onward.errors import OnwardError
from onward.files import write_atomic
from onward.report.rendering import data_uri, render
from onward.table import Array, Rows

PAGE = "index.html"
_SIDE = 112
_MOST_TIMES_AS_LONG = 50
_THIRDS = ("best", "middle", "last")


@dataclass(frozen=True)
class Shot:
    """A thumbnail, or what is wrong with it."""

    id: str
    rank: int
    score: float
    image: str
    wrong: str


@dataclass(frozen=True)
class Line:
    """Some candidates of a concept in a bucket."""

    bucket: int
    count: int
    thirds: Sequence[tuple[str, Sequence[Shot]]]
    histogram: str


@dataclass(frozen=True)
class Section:
    """A concept."""

    name: str
    texts: Sequence[str]
    lines: Sequence[Line]
    background: bool


def make_preview(
    retrieved: Path,
    images: Path,
    out: Path,
    *,
    shown: int = 12,
    watch: Callable[[int], None] = lambda images: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Make the folder of a page; return what was counted.

    Parameters
    ----------
    retrieved
        A folder of ``onward curate retrieve``.
    images
        Where the images are: a folder of them, or of tar shards.
    out
        Where to.
    shown
        How many of each concept and bucket, spread evenly over their ranks from the best to the
        last: what is right among them is about what is right among all.
    watch
        Called with 1 for each image.
    on_wait
        Called if another process is at work on the same folder.
    """
    stage = open_stage(retrieved, "retrieve")
    options = {"retrieved": stage.digest, "images": str(images), "shown": shown}
    with making(out, "preview", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        return made.finish(_write_page(stage, images, out / PAGE, shown, watch))


def _write_page(
    retrieved: Stage, images: Path, path: Path, shown: int, watch: Callable[[int], None]
) -> dict[str, Any]:
    folder = retrieved.folder
    concepts = read_concepts(folder / CONCEPTS)
    candidates = read_parquet(folder / "candidates.parquet", fix="Retrieve again")
    scores = read_parquet(folder / "scores.parquet", fix="Retrieve again")
    picked = {
        (concept, bucket): (held, spread(held.num_rows, shown))
        for concept in concepts.names
        for bucket in sorted(set(candidates.column("bucket").to_pylist()))
        if (held := _of(candidates, concept, bucket)).num_rows
    }
    ids = [
        i for held, places in picked.values() for i in held.column("id").take(places).to_pylist()
    ]
    found = find_images(images, ids)
    thumbnails: dict[str, tuple[str, str]] = {}
    for one in dict.fromkeys(ids):
        thumbnails[one] = thumbnail(found.get(one))
        watch(1)
    sections = [
        Section(
            name,
            _texts(concepts, name, sub=bool(retrieved.options.get("sub_queries"))),
            [
                _line(bucket, held, places, thumbnails, _of(scores, name, bucket))
                for (concept, bucket), (held, places) in picked.items()
                if concept == name
            ],
            name == concepts.background,
        )
        for name in concepts.names
    ]
    text = render(
        "preview.html.j2",
        ("preview.js",),
        title="Candidates at a glance",
        sections=sorted(sections, key=lambda section: section.background),
        counts=retrieved.counts,
        digest=retrieved.digest,
        shown=shown,
        side=_SIDE,
    )
    write_atomic(path, text.encode())
    wrong = [reason for _, reason in thumbnails.values() if reason]
    return {
        "images": len(thumbnails),
        "concepts": len(concepts.names),
        "lines": len(picked),
        "not_there": wrong.count("not there"),
        "unreadable": len(wrong) - wrong.count("not there"),
    }


def spread(count: int, wanted: int) -> Rows:
    """Return so many places, evenly from the first to the last.

    Examples
    --------
    >>> spread(9, 3).tolist(), spread(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).round().astype(np.int64))


def thumbnail(place: Place | None) -> tuple[str, str]:
    """Return a small image as an address that carries it, or none and what is wrong."""
    if place is None:
        return "", "not there"
    try:
        with opened_image(place.read(), lambda: place.id) as image, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            image.draft("RGB", (2 * _SIDE, 2 * _SIDE))
            small = image.convert("RGB")
            if max(small.size) <= _MOST_TIMES_AS_LONG * min(small.size):
                small.thumbnail((_SIDE, _SIDE))
                sink = io.BytesIO()
                small.save(sink, "WEBP", quality=70)
                return data_uri(sink.getvalue(), "webp"), ""
    except (OnwardError, OSError):
        pass
    return "", "cannot be shown"


def _of(table: Any, concept: str, bucket: int) -> Any:
    mine = pc.and_(pc.equal(table["concept"], concept), pc.equal(table["bucket"], bucket))
    return table.filter(mine)


def _texts(concepts: Concepts, name: str, *, sub: bool) -> Sequence[str]:
    one = next((one for one in concepts.found if one.name == name), None)
    if one is None:
        return ()
    return one.sub_queries if sub and one.sub_queries else one.prompts


def _line(
    bucket: int,
    held: Any,
    places: Rows,
    thumbnails: Mapping[str, tuple[str, str]],
    scores: Any,
) -> Line:
    some = held.take(places).to_pylist()
    shots = [Shot(one["id"], one["rank"] + 1, one["score"], *thumbnails[one["id"]]) for one in some]
    thirds = [list(part) for part in np.array_split(np.arange(len(shots)), 3)]
    named = zip(_THIRDS, thirds, strict=True)
    values: Array = held.column("score").to_numpy()
    return Line(
        bucket,
        held.num_rows,
        [(name, [shots[at] for at in part]) for name, part in named if part],
        histogram_svg(scores, values) if scores.num_rows else "",
    )
