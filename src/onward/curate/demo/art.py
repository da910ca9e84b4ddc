"""A pool of dated art to curate: emoji as they were released, and much else that is in the way."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from onward.curate.concepts import Concept, Concepts
from onward.curate.demo.annotators import Picture
from onward.data.chosen_pairs import write_tar
from onward.data.emoji_history import TWEMOJI, as_rgb, captions, load_emoji, publish_drawings
from onward.data.variations import recoloured, similarities, warped


@dataclass(frozen=True)
class _Kind:
    """Which emoji are of a concept: by how their subgroup begins, and a word in their name."""

    subgroup: str
    prompts: tuple[str, ...]
    super: str
    word: str = ""


_COUNTRIES = ("France", "Japan", "Brazil", "Kenya", "Canada", "Samoa", "Norway", "India")
_FLAGS = ("flag", *(f"flag: {country}. flag" for country in _COUNTRIES))
# With art in every period. Texts are as captions are written: the small model knows no other
# English.
_CONCEPTS = {
    "flag": _Kind("country-flag", _FLAGS, "Symbols"),
    "clock": _Kind(
        "time", ("three o\u2019clock. clock, time", "ten-thirty. clock, thirty", "clock"), "Objects"
    ),
    "face": _Kind(
        "face-",
        (
            "grinning face. face, smile, happy",
            "crying face. face, sad, tear",
            "angry face. face, mad",
            "kissing face. face, kiss",
            "worried face. face",
        ),
        "People",
    ),
    "hand": _Kind(
        "hand",
        (
            "raised hand. hand, high five",
            "thumbs up. hand, thumb",
            "victory hand. hand, v",
            "waving hand. hand, wave",
            "hand, finger",
        ),
        "People",
    ),
    "heart": _Kind(
        "heart",
        ("red heart. heart, love", "blue heart. heart, blue", "growing heart. heart", "heart"),
        "Symbols",
    ),
    "button": _Kind(
        "alphanum",
        ("button, japanese", "button, ideograph", "OK button. button", "button"),
        "Symbols",
    ),
    "moon": _Kind(
        "sky-weather",
        ("full moon. full, moon", "crescent moon. crescent, moon", "moon, space", "moon"),
        "Nature",
        "moon",
    ),
    "person": _Kind(
        "person",
        (
            "woman. adult, woman",
            "man. adult, man",
            "police officer. officer, police",
            "person running. person, running",
            "person, woman",
        ),
        "People",
    ),
    "zodiac": _Kind(
        "zodiac",
        ("Aries. horoscope, zodiac", "Leo. horoscope, zodiac", "Pisces. horoscope, zodiac"),
        "Symbols",
    ),
    "keycap": _Kind("keycap", ("keycap: 3. keycap", "keycap: 7. keycap", "keycap"), "Symbols"),
}
CONCEPTS = Concepts(
    tuple(
        Concept(name, kind.prompts, option=name, super=kind.super)
        for name, kind in _CONCEPTS.items()
    )
)
# Of these there is much art already.
_PLENTY = ("flag", "person")
# Emoji that some would not want to see in a dataset.
_SENSITIVE = ("middle finger", "cigarette", "pistol", "bomb", "kitchen knife", "coffin")
METADATA, SHARDS, TRUTH = "metadata.csv", "shards", "truth.parquet"
_COLUMNS = (
    *("id", "url", "taken", "uploaded", "page", "author"),
    *("title", "caption", "licence", "licence_url"),
)
_ARTISTS = {
    "noto": ("Google, Noto Emoji", "Apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    "twemoji": ("Twemoji", "CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "noise": ("nobody", "CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
}
_REACH, _NOISE = 1.2, 4.0
_PACKED, _AT_ONCE = 4000, 1024
_BROKEN = 3


@dataclass(frozen=True, eq=False)
class Art:
    """Images to put into a pool, row by row: pixels, and what is known of each."""

    pixels: NDArray[np.uint8]
    ids: list[str]
    times: list[datetime]
    names: list[str]
    captions: list[str]
    artists: list[str]
    concepts: list[str]


def write_art(out: Path, *, renderings: int = 4, every: int = 1, seed: int = 0) -> dict[str, int]:
    """Write a pool to curate, and what it shows in truth; return what was counted.

    ``metadata.csv`` has a row for each image, and rows that are wrong in the ways that metadata
    are: uploaded before they were taken, without a date, twice. ``shards`` has the images in
    img2dataset's layout, a few of them cut short. ``truth.parquet`` says what each image shows, for
    annotators who are simulated and for whoever wants to know how right they were.

    Drawings are turned, scaled, recoloured and a little noisy, as photos of one thing differ. Those
    of the ten concepts are there `renderings` times, but for flags and persons, of which there
    are many; beside them there are all other emoji, a second artist, and noise. With `every`, only
    one of so many emoji is drawn, for a pool that is made in no time.
    """
    art = _art(renderings, every, np.random.default_rng([seed, 5]))
    counts: dict[str, int] = {}

    def fill(draft: Path) -> None:
        rng = np.random.default_rng([seed, 6])
        broken = set(rng.choice(len(art.ids), _BROKEN, replace=False).tolist())
        (draft / SHARDS).mkdir()
        for number, start in enumerate(range(0, len(art.ids), _PACKED)):
            rows = range(start, min(start + _PACKED, len(art.ids)))
            samples = [_sample(art, row, cut=row in broken) for row in rows]
            write_tar(draft / SHARDS / f"{number:05}.tar", samples)
        lines = [*_lines(art, rng)]
        wrong = [*_wrong(lines, rng)]
        order = rng.permutation(len(lines) + len(wrong)).tolist()
        with (draft / METADATA).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows([(lines + wrong)[place] for place in order])
        pq.write_table(_truth(art), draft / TRUTH)
        counts.update(
            images=len(art.ids),
            rows=len(order),
            wrong_rows=len(wrong),
            broken_images=_BROKEN,
            of_the_concepts=sum(name != "" for name in art.concepts),
            second_artist=art.artists.count("twemoji"),
            noise=art.artists.count("noise"),
        )

    publish_drawings(out, fill)
    return counts


def true_pictures(out: Path, candidates: pa.Table) -> list[Picture]:
    """Return candidates as those know them who drew the pool: what they show in truth."""
    truth = {row["id"]: row for row in pq.read_table(out / TRUTH).to_pylist()}
    found = []
    for row in candidates.select(["id", "concept"]).to_pylist():
        true = truth[row["id"]]
        shows = frozenset({true["concept"]} if true["concept"] else ())
        found.append(Picture(row["id"], row["concept"], shows, true["sensitive"]))
    return found


def true_label_error(out: Path, labelled: pa.Table) -> float:
    """Return how many labels are wrong in truth, as a share."""
    truth = {row["id"]: row["concept"] for row in pq.read_table(out / TRUTH).to_pylist()}
    rows = labelled.select(["id", "concept"]).to_pylist()
    named = [truth[row["id"]] or CONCEPTS.background for row in rows]
    return float(np.mean([a != row["concept"] for a, row in zip(named, rows, strict=True)]))


def _art(renderings: int, every: int, rng: np.random.Generator) -> Art:
    emoji = load_emoji()
    known = {
        name: emoji.columns.column(name).to_pylist()
        for name in ("id", "name", "subgroup", "snapshot", "time")
    }
    texts = captions(emoji)
    days = sorted({(s, t) for s, t in zip(known["snapshot"], known["time"], strict=True) if s >= 0})
    begins = [datetime(day.year, day.month, day.day) for _, day in days]
    ends = [*begins[1:], begins[-1] + timedelta(days=365)]
    concept = [_concept(*told) for told in zip(known["subgroup"], known["name"], strict=True)]
    often = [renderings if name not in ("", *_PLENTY) else 1 for name in concept]
    rows = np.repeat(np.arange(len(emoji)), often * (np.arange(len(emoji)) % every == 0))
    # The second artist's work is new in its last version only; here it turns up at all times.
    period = np.array(known["snapshot"])[rows]
    period = np.where(period == TWEMOJI, rng.integers(0, len(begins), len(rows)), period)
    noise = len(rows) // 20
    period = np.concatenate([period, rng.integers(0, len(begins), noise)])
    share = rng.random(len(period))
    times = [
        begins[p] + (ends[p] - begins[p]) * float(s)
        for p, s in zip(period.tolist(), share.tolist(), strict=True)
    ]
    names = [known["name"][row] for row in rows.tolist()]
    artists = ["twemoji" if known["snapshot"][r] == TWEMOJI else "noto" for r in rows.tolist()]
    concepts = [concept[row] for row in rows.tolist()]
    drawings = as_rgb(emoji.wide["image"][rows])
    starts = range(0, len(rows), _AT_ONCE)
    pixels = [_rendered(drawings[start : start + _AT_ONCE], rng) for start in starts]
    pixels.append(rng.integers(0, 256, (noise, *drawings.shape[1:]), np.uint8))
    count = len(rows) + noise
    return Art(
        np.concatenate(pixels),
        # Nothing in a name tells what it is.
        [str(number) for number in 10_000_000 + rng.permutation(9 * count)[:count]],
        [time.replace(microsecond=0) for time in times],
        names + ["noise"] * noise,
        [texts[row] for row in rows.tolist()] + [""] * noise,
        artists + ["noise"] * noise,
        concepts + [""] * noise,
    )


def _concept(subgroup: str, name: str) -> str:
    for concept, kind in _CONCEPTS.items():
        if subgroup.startswith(kind.subgroup) and kind.word in name:
            return concept
    return ""


def _rendered(images: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    moved = 255 - warped(255 - images, similarities(len(images), rng, _REACH))
    noise = _NOISE * rng.standard_normal(moved.shape, np.float32)
    return np.asarray(np.clip(recoloured(moved, rng) + noise, 0, 255), np.uint8)


def _sample(art: Art, row: int, *, cut: bool) -> dict[str, bytes | str]:
    sink = io.BytesIO()
    Image.fromarray(art.pixels[row]).save(sink, "PNG")
    image = sink.getvalue()
    told = json.dumps({"id": art.ids[row], "caption": art.captions[row]}).encode()
    return {
        "__key__": f"{row:08}",
        "png": image[: len(image) // 2] if cut else image,
        "json": told,
    }


def _lines(art: Art, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    ages = rng.integers(1, 60 * 24 * 30, len(art.ids)).tolist()
    for row, name in enumerate(art.ids):
        author, licence, address = _ARTISTS[art.artists[row]]
        yield {
            "id": name,
            "url": f"https://emoji.invalid/images/{name}.png",
            "taken": f"{art.times[row] - timedelta(minutes=ages[row]):%Y-%m-%d %H:%M:%S}",
            "uploaded": f"{art.times[row]:%Y-%m-%d %H:%M:%S}",
            "page": f"https://emoji.invalid/{name}",
            "author": author,
            "title": art.names[row],
            "caption": art.captions[row],
            "licence": licence,
            "licence_url": address,
        }


def _wrong(
    lines: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Yield rows as metadata have them that nobody checked."""
    for kind, row in enumerate(rng.choice(len(lines), 120, replace=False).tolist()):
        line = dict(lines[row])
        if kind >= 30:
            line["id"] = f"9{line['id']}"
        if 30 <= kind < 70:
            line["taken"], line["uploaded"] = line["uploaded"], line["taken"]
        elif 70 <= kind < 100:
            line["uploaded"] = ""
        elif kind >= 100:
            line["uploaded"] = "1970-01-01 00:00:00"
        yield line


def _truth(art: Art) -> pa.Table:
    warned = [any(word in name for word in _SENSITIVE) for name in art.names]
    return pa.table(
        {
            "id": art.ids,
            "concept": pa.array([name or None for name in art.concepts], pa.string()),
            "name": art.names,
            "artist": art.artists,
            "sensitive": warned,
        }
    )
