"""The pictures of the demonstration's page: what is in the pool, the candidates, the dataset."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from PIL import Image

from onward.curate.demo.art import CONCEPTS, SHARDS
from onward.curate.demo.size import Folders
from onward.curate.images import Place, find_images
from onward.curate.preview import spread, thumbnail
from onward.curate.records import row_files
from onward.curate.review.campaign import open_campaign
from onward.curate.review.dashboard import overview
from onward.data.folder_images import opened_image
from onward.errors import OnwardError
from onward.report.rendering import data_uri

_SIDE, _GAP, _IN_A_STRIP = 48, 6, 20
_OF_A_BUCKET = 3
_DISPUTED = 12


@dataclass(frozen=True)
class Strip:
    """Some images of a bucket of the pool, side by side."""

    bucket: int
    first: str
    last: str
    rows: int
    image: str


@dataclass(frozen=True)
class Shot:
    """A candidate, and whether it shows what it was found for."""

    image: str
    right: bool
    words: str


@dataclass(frozen=True)
class Found:
    """Some candidates of a concept, bucket by bucket from the best to the last."""

    name: str
    texts: Sequence[str]
    buckets: Sequence[tuple[int, Sequence[Shot]]]


@dataclass(frozen=True)
class Dispute:
    """An image on which no majority agrees."""

    image: str
    found_for: str
    answers: Sequence[str]


def pool_strips(at: Folders, buckets: Sequence[Mapping[str, Any]], seed: int) -> list[Strip]:
    """Draw some images of every bucket, by lot."""
    rng = np.random.default_rng([seed, 10])
    files, chosen = row_files(at.pool), []
    for number in range(len(buckets)):
        parts = [pq.read_table(path) for bucket, path in files if bucket == number]
        ids = [name for part in parts for name in part.column("id").to_pylist()]
        places = rng.choice(len(ids), min(_IN_A_STRIP, len(ids)), replace=False)
        chosen.append([ids[place] for place in places.tolist()])
    found = find_images(at.art / SHARDS, {name for ids in chosen for name in ids})
    return [
        Strip(
            number,
            bucket["first"][:10],
            bucket["last"][:10],
            bucket["rows"],
            _side_by_side([found[name] for name in chosen[number] if name in found]),
        )
        for number, bucket in enumerate(buckets)
    ]


def candidate_shots(at: Folders, truth: Mapping[str, frozenset[str]]) -> list[Found]:
    """Return some candidates of each concept and bucket, the background last."""
    table = pq.read_table(at.candidates / "candidates.parquet")
    picked: dict[str, list[tuple[int, list[dict[str, Any]]]]] = {}
    names = [*(one.name for one in CONCEPTS.found), CONCEPTS.background]
    for name in names:
        mine = table.filter(pc.equal(table["concept"], name))
        for bucket in sorted(set(mine.column("bucket").to_pylist())):
            here = mine.filter(pc.equal(mine["bucket"], bucket))
            rows = here.take(spread(here.num_rows, _OF_A_BUCKET)).to_pylist()
            picked.setdefault(name, []).append((bucket, rows))
    wanted = {row["id"] for lines in picked.values() for _, rows in lines for row in rows}
    found = find_images(at.art / SHARDS, wanted)
    texts = {one.name: one.prompts for one in CONCEPTS.found}

    def shot(row: Mapping[str, Any]) -> Shot:
        shows = truth[row["id"]] or {CONCEPTS.background}
        right = shows == {row["concept"]}
        words = f"rank {row['rank'] + 1}" + ("" if right else f", shows {', '.join(sorted(shows))}")
        return Shot(thumbnail(found.get(row["id"]))[0], right, words)

    return [
        Found(
            name,
            texts.get(name, ()),
            [(bucket, [shot(row) for row in rows]) for bucket, rows in picked[name]],
        )
        for name in names
        if name in picked
    ]


def disputes(at: Folders) -> list[Dispute]:
    """Return some images on which the votes that count do not agree."""
    with open_campaign(at.campaign) as campaign:
        return [
            Dispute(
                thumbnail(campaign.place(one.item))[0],
                one.concept,
                [", ".join(labels) or "none of them" for labels in one.answers],
            )
            for one in overview(campaign).disputed[:_DISPUTED]
        ]


def dataset_sheet(dataset: Path, classes: Sequence[str]) -> str:
    """Draw one image of each class and bucket of the finished dataset, as a contact sheet."""
    from onward.report.contact_sheet import contact_sheet

    rows = pq.read_table(dataset / "stream.parquet").to_pylist()
    first: dict[tuple[str, int], str] = {}
    for row in rows:
        first.setdefault((row["label"], row["bucket"]), row["path"])
    buckets = sorted({row["bucket"] for row in rows})
    begun = {b: min(row["time"] for row in rows if row["bucket"] == b) for b in buckets}
    columns = [
        (name.lower(), [_opened(dataset, first.get((name, bucket))) for bucket in buckets])
        for name in classes
    ]
    sheet = contact_sheet(columns, [f"{b}\nfrom {begun[b]:%B %Y}" for b in buckets], scale=2)
    return _address(sheet)


def _opened(dataset: Path, path: str | None) -> Image.Image | None:
    if path is None:
        return None
    with Image.open(dataset / path) as image:
        return image.convert("RGBA")


def _side_by_side(places: Sequence[Place]) -> str:
    strip = Image.new("RGB", (max(len(places), 1) * (_SIDE + _GAP), _SIDE), "white")
    for number, place in enumerate(places):
        try:
            with opened_image(place.read(), place.path.as_posix) as image:
                small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)
        except (OnwardError, OSError):
            continue  # one of those that were cut short
        strip.paste(small, (number * (_SIDE + _GAP), 0))
    return _address(strip)


def _address(image: Image.Image) -> str:
    sink = io.BytesIO()
    image.save(sink, "WEBP", quality=80)
    return data_uri(sink.getvalue(), "webp")
