"""A raw pool of dated emoji: pairs of URL and caption, crawls that have them, and much dirt."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from onward.data.chosen_pairs import write_tar
from onward.data.emoji_history import (
    as_rgb,
    captions,
    load_emoji,
    publish_drawings,
    release_days,
)
from onward.data.images import encoded
from onward.data.variations import recoloured, similarities, warped
from onward.types import Array

POOL, SNAPSHOTS, IMAGES, KNOWN = "pool.parquet", "snapshots", "images", "known.parquet"
PAIRS = 400
"""Clean pairs of each release; a quarter as many are not."""

# How often a pair is in a crawl that it could be in, and in none at all; whose date is known.
_FIRST, _AGAIN, _NEVER, _KNOWN = 0.8, 0.5, 0.05, 0.6
_PACKED = 1000
_SENTENCES = ("{}", "{}", "a drawing of the {}", "picture of {}")
_TAGGED = ("<b>{}</b>", '<a href="/emoji">{}</a>', "{} &amp; more", "<p>{}<br/></p>")
_STOCK = ("image may contain an emoji", "click here to see the full picture")
_ELSEWHERE = (
    "ein kleines Bild von einem lachenden Gesicht",
    "diese Zeichnung zeigt einen roten Apfel auf dem Tisch",
    "un petit dessin d'un visage qui sourit",
    "cette image montre un chat noir dans le jardin",
    "un dibujo de una cara feliz con los ojos cerrados",
    "esta imagen muestra un perro en la calle",
    "маленькая картинка, на которой лицо",
    "на этой картинке нарисован красный дом",
    "笑っている顔の小さな絵です",
    "これは赤いりんごの絵文字です",
)
# Of a hundred clean pairs, so many more are each of these.
_DIRT = {
    "tagged": 5,
    "elsewhere": 4,
    "short": 3,
    "small": 3,
    "narrow": 2,
    "twice": 3,
    "alike": 3,
    "stock": 2,
}


@dataclass(frozen=True)
class _Pair:
    """A row of the pool: which drawing, how it is rendered, and when it came into the world."""

    row: int
    release: int
    url: str
    text: str
    size: tuple[int, int]
    look: int
    first: int | None
    noise: int = 0
    copy: int = 0

    @property
    def uid(self) -> str:
        name = f"{self.url}\n{self.text}\n{self.copy}"
        return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def make_emoji_pool(
    out: Path,
    *,
    pairs: int = PAIRS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, int]:
    """Write a raw pool, and return what was counted.

    ``pool.parquet`` has DataComp's columns: uid, url, text, original_width, original_height.
    ``snapshots/<YYYY-MM>.parquet`` are crawls with url and text, one of the month of each release
    of the emoji history and one of two months later in the same year: of a pair's months the first
    is missed by one pair in five, later crawls have half of what there was before, and one pair in
    twenty is in none. ``images/*.tar`` are in img2dataset's layout. ``known.parquet`` has the true
    date of three pairs in five.

    Beside `pairs` clean ones of each release there is what pools have: HTML in captions, other
    languages, captions that say little, small and narrow images, the same pair twice, almost the
    same image again, and captions that are everywhere.
    """
    found, months = _pairs(pairs, np.random.default_rng([seed, 11]))
    counts: dict[str, int] = {}

    def fill(draft: Path) -> None:
        rng = np.random.default_rng([seed, 12])
        order = rng.permutation(len(found)).tolist()
        shown = [found[place] for place in order]
        pq.write_table(_table(shown), draft / POOL)
        (draft / SNAPSHOTS).mkdir()
        for number, month in enumerate(months):
            held = [p for p in found if _is_in(p, number, rng) and not p.copy]
            texts = {"url": [p.url for p in held], "text": [p.text for p in held]}
            pq.write_table(pa.table(texts), draft / SNAPSHOTS / f"{month}.parquet")
        dated = [p for p in shown if rng.random() < _KNOWN]
        days = release_days(load_emoji())
        ages = rng.integers(0, 7, len(dated)).tolist()
        dates = [days[p.release] - np.timedelta64(a, "D") for p, a in zip(dated, ages, strict=True)]
        known = {"uid": [p.uid for p in dated], "date": np.array(dates, "datetime64[D]")}
        pq.write_table(pa.table(known), draft / KNOWN)
        (draft / IMAGES).mkdir()
        for number, start in enumerate(range(0, len(shown), _PACKED)):
            some = shown[start : start + _PACKED]
            write_tar(draft / IMAGES / f"{number:05}.tar", _samples(some, start))
            progress(len(some))
        counts.update(
            pairs=len(found),
            snapshots=len(months),
            in_no_snapshot=sum(p.first is None for p in found),
            dates_known=len(dated),
        )

    publish_drawings(out, fill)
    return counts


def _months(days: NDArray[np.datetime64]) -> tuple[list[str], list[int]]:
    """Return the months of crawls, and the first crawl of each release."""
    months: set[str] = set()
    for day in days:
        month = day.astype("datetime64[M]")
        later = month + np.timedelta64(2, "M")
        months |= {str(month)} | ({str(later)} if str(later)[:4] == str(month)[:4] else set())
    order = sorted(months)
    return order, [order.index(str(day.astype("datetime64[M]"))) for day in days]


def _pairs(count: int, rng: np.random.Generator) -> tuple[list[_Pair], list[str]]:
    emoji = load_emoji()
    said, names = captions(emoji), emoji.columns.column("name").to_pylist()
    changed = emoji.values("change") != "unchanged"
    months, begins = _months(release_days(emoji))
    found: list[_Pair] = []
    for release, begin in enumerate(begins):
        rows = np.flatnonzero(emoji.values("snapshot") == release)
        # What is new or redrawn comes first; what is not is at least rendered differently.
        rows = rng.permutation(rows)
        rows = rows[np.argsort(~changed[rows], kind="stable")][:count]
        clean = [_clean(row, release, said[row], begin, len(months), rng) for row in rows.tolist()]
        found += clean
        for kind, share in _DIRT.items():
            for at in rng.integers(0, len(clean), max(count * share // 100, 1)).tolist():
                found.append(_dirty(kind, clean[at], names[clean[at].row], rng))
    return found, months


def _clean(
    row: int, release: int, said: str, begin: int, crawls: int, rng: np.random.Generator
) -> _Pair:
    side = int(rng.integers(224, 321))
    wide = round(side * float(rng.choice([1.0, 1.0, 1.25, 1.5])))
    look = int(rng.integers(1 << 31))
    first: int | None = begin + int(rng.geometric(_FIRST)) - 1
    if rng.random() < _NEVER or (first or 0) >= crawls:
        first = None
    text = str(rng.choice(_SENTENCES)).format(said.replace(". ", ", ", 1))
    url = f"https://emoji.invalid/{release}/{row}-{look:08x}.jpg"
    return _Pair(row, release, url, text, (wide, side), look, first)


def _dirty(kind: str, pair: _Pair, name: str, rng: np.random.Generator) -> _Pair:
    if kind == "twice":
        return replace(pair, copy=int(rng.integers(1, 1 << 31)))
    look = int(rng.integers(1 << 31))
    url = f"https://emoji.invalid/{kind}/{pair.row}-{look:08x}.jpg"
    if kind == "alike":
        wide, high = pair.size
        return replace(pair, url=url, size=(wide + 8, high + 8), noise=look)
    other = replace(pair, url=url, look=look)
    if kind == "tagged":
        return replace(other, text=str(rng.choice(_TAGGED)).format(pair.text))
    if kind == "elsewhere":
        return replace(other, text=str(rng.choice(_ELSEWHERE)))
    if kind == "short":
        return replace(other, text=name.split()[0])
    if kind == "stock":
        return replace(other, text=str(rng.choice(_STOCK)))
    side = int(rng.integers(48, 160))
    return replace(other, size=(side, side) if kind == "small" else (4 * side + 640, 200))


def _is_in(pair: _Pair, crawl: int, rng: np.random.Generator) -> bool:
    again = rng.random() < _AGAIN
    return pair.first is not None and (crawl == pair.first or (crawl > pair.first and again))


def _table(pairs: Sequence[_Pair]) -> pa.Table:
    return pa.table(
        {
            "uid": [p.uid for p in pairs],
            "url": [p.url for p in pairs],
            "text": [p.text for p in pairs],
            "original_width": pa.array([p.size[0] for p in pairs], pa.int32()),
            "original_height": pa.array([p.size[1] for p in pairs], pa.int32()),
        }
    )


def _samples(pairs: Sequence[_Pair], start: int) -> Iterator[dict[str, bytes | str]]:
    drawings = as_rgb(load_emoji().wide["image"][np.array([p.row for p in pairs])])
    for number, (pair, drawing) in enumerate(zip(pairs, drawings, strict=True), start):
        told = {
            "id": pair.uid,
            "uid": pair.uid,
            "url": pair.url,
            "caption": pair.text,
            "width": pair.size[0],
            "height": pair.size[1],
        }
        yield {
            "__key__": f"{number:09}",
            "jpg": _encoded(pair, drawing),
            "txt": pair.text.encode(),
            "json": json.dumps(told, sort_keys=True, ensure_ascii=False).encode(),
        }


def _encoded(pair: _Pair, drawing: Array) -> bytes:
    """Draw a pair in the middle of paper of its size."""
    rng = np.random.default_rng(pair.look)
    moved = 255 - warped(255 - drawing[None], similarities(1, rng))
    seen = Image.fromarray(recoloured(moved, rng)[0])
    side = min(pair.size)
    # Of the colour that white has become.
    paper = Image.new("RGB", pair.size, seen.getpixel((0, 0)))
    place = ((pair.size[0] - side) // 2, (pair.size[1] - side) // 2)
    paper.paste(seen.resize((side, side), Image.Resampling.BICUBIC), place)
    if pair.noise:
        grain = np.random.default_rng(pair.noise).normal(0, 3, (*paper.size[::-1], 3))
        paper = Image.fromarray(np.clip(np.asarray(paper) + grain, 0, 255).astype(np.uint8))
    return encoded(paper, "JPEG", quality=80 if pair.noise else 90)
