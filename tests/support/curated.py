"""A small pool, retrieved and voted on: folders as the verbs before would have left them."""

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from onward.curate.concepts import Concept, Concepts, write_concepts
from onward.curate.demo.annotators import Picture, crew
from onward.curate.records import CANDIDATES, POOL, VOTES
from onward.curate.stage import making
from simulated import simulated_votes

NAMES = ("bus", "camera")
CONCEPTS = Concepts(tuple(Concept(name, (name,), option=name) for name in NAMES))
LICENCES = (
    ("Attribution License", "http://creativecommons.org/licenses/by/2.0/"),
    ("Attribution-NonCommercial-NoDerivs License", None),
    ("All rights reserved", None),
    (None, None),
)
_COLOURS = {"BACKGROUND": (40, 160, 60), "bus": (200, 40, 40), "camera": (40, 40, 200)}


def pictures(buckets: Sequence[int] = (1, 2, 3), each: int = 8) -> list[tuple[int, Picture]]:
    """Return pictures by bucket: three of four show what they were retrieved for."""
    found = []
    for bucket in buckets:
        for name in CONCEPTS.names:
            for number in range(each):
                shows = frozenset() if name == "BACKGROUND" or number % 4 == 3 else {name}
                if name == "BACKGROUND" and number % 4 == 3:
                    shows = frozenset({"bus"})
                one = Picture(
                    f"{bucket}{NAMES.index(name) if name in NAMES else 9}{number:03}",
                    name,
                    frozenset(shows),
                )
                found.append((bucket, one))
    return found


def retrieved(folder: Path, shown: Sequence[tuple[int, Picture]]) -> Path:
    """Write a folder as ``onward curate retrieve`` does."""
    rows = [
        {"bucket": bucket, "concept": one.found_for, "rank": rank, "id": one.id, "score": 0.5}
        for rank, (bucket, one) in enumerate(shown)
    ]
    with making(folder, "retrieve", {"k": 8}) as made:
        pq.write_table(pa.Table.from_pylist(rows, CANDIDATES), folder / "candidates.parquet")
        (folder / "concepts.json").write_bytes(write_concepts(CONCEPTS))
        made.finish({"candidates": len(rows)})
    return folder


def pool(folder: Path, shown: Sequence[tuple[int, Picture]]) -> Path:
    """Write a folder as ``onward curate pool`` does."""
    with making(folder, "pool", {"buckets": 4}) as made:
        for bucket in sorted({bucket for bucket, _ in shown}):
            rows = [_row(bucket, n, one.id) for n, (b, one) in enumerate(shown) if b == bucket]
            path = folder / "rows" / f"{bucket:02}" / "0.parquet"
            path.parent.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(rows, POOL), path)
        made.finish({"rows": 10 * len(shown), "kept": 9 * len(shown)})
    return folder


def images(folder: Path, shown: Sequence[tuple[int, Picture]]) -> Path:
    """Write an image for each picture, in the colour of what it shows."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number, (_, one) in enumerate(shown):
        colour = _COLOURS[next(iter(one.shows), "BACKGROUND")]
        pixels = np.clip(np.array(colour) + rng.normal(0, 30, (40, 48, 3)), 0, 255)
        kind = "png" if number % 2 else "jpg"
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{one.id}.{kind}")
    return folder


def votes(shown: Sequence[tuple[int, Picture]], *, seed: int = 0) -> pa.Table:
    """Return what five annotators say, three to each picture."""
    people = crew(5, seed, misses=0.02, lured=0.02)
    return simulated_votes([one for _, one in shown], people, NAMES, seed=seed)


def said(*rows: tuple[str, str, list[str], bool]) -> pa.Table:
    """Return votes that are written out: id, annotator, labels, sensitive."""
    names = ("id", "annotator", "labels", "sensitive")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], VOTES)


def _row(bucket: int, number: int, name: str) -> dict[str, Any]:
    licence, url = LICENCES[number // 2 % len(LICENCES)]
    when = datetime(2010 + bucket, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return {
        "id": name,
        "time": when,
        "taken": when - timedelta(days=3),
        "url": f"http://images.example/{name}.jpg",
        "page": f"http://pages.example/{name}",
        "author": f"author {number % 5}",
        "title": f'Title, "{name}"',
        "caption": None,
        "licence": licence,
        "licence_url": url,
    }


def encoded(size: int = 8) -> bytes:
    """Return a small image."""
    sink = io.BytesIO()
    Image.new("RGB", (size, size)).save(sink, "PNG")
    return sink.getvalue()


def read(path: Path) -> Any:
    """Return what a JSON file holds."""
    return json.loads(path.read_text("utf-8"))
