"""The emoji history as pairs of a drawing and its caption, and as what tests are made of.

The table has a row for every drawing as it is learned, with its caption; for every drawing by
itself, as it is and as a rendering that nobody learns from; for every caption by itself; and for
every prompt of a class. A test takes images and texts out of these, so that nothing in a row tells
which belongs to which.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onward.data.emoji_history import (
    GROUPS,
    TWEMOJI,
    as_rgb,
    captions,
    distinct_images,
    drawings_of,
    load_emoji,
)
from onward.data.images import ImageColumn
from onward.data.variations import recoloured, similarities, warped
from onward.pairs import HAS_IMAGE, HAS_TEXT, IMAGE, TEXT, cut_text, pair_type
from onward.types import Array, Rows, Table

PAIR, DRAWING, RENDERING, CAPTION, PROMPT = "pair", "drawing", "rendering", "caption", "prompt"
# What stands for each class, as captions are written: a small model knows no other English.
PROMPTS = {
    "smileys": (
        "smiling face. face, smile, happy",
        "sad face. face, sad, tears",
        "cat face. cat, face",
        "heart. love, emotion",
    ),
    "people": (
        "person. adult, man, woman",
        "person at work. worker, occupation",
        "hand. hand, finger, gesture",
        "family. child, parent",
    ),
    "animals": (
        "animal. animal, nature",
        "bird. animal, bird",
        "fish. animal, ocean",
        "flower. plant, flower",
        "tree. plant, tree",
    ),
    "food": (
        "food. food, restaurant",
        "fruit. food, fruit",
        "vegetable. food, vegetable",
        "drink. drink, bar, glass",
        "dessert. sweet, dessert",
    ),
    "travel": (
        "building. building, place",
        "vehicle. vehicle, car, travel",
        "airplane. travel, vehicle",
        "clock. time, clock",
        "weather. weather, sky, cloud",
        "mountain. place, nature",
    ),
    "activities": (
        "sport. ball, sport, game",
        "game. game, play",
        "medal. award, prize",
        "celebration. celebration, party",
        "art. art, craft",
    ),
    "objects": (
        "tool. tool, object",
        "clothing. clothes, clothing",
        "musical instrument. music, instrument",
        "book. book, paper",
        "computer. computer, electronics",
        "money. money, bank",
        "light. light, lamp",
    ),
    "symbols": (
        "symbol. symbol, sign",
        "arrow. arrow, direction",
        "button. button, square",
        "geometric shape. circle, square, geometric",
        "religion. religion, religious symbol",
        "zodiac. zodiac, star",
        "warning sign. prohibited, forbidden, not",
    ),
    "flags": ("flag: country. flag, nation", "flag. flag"),
}
# The longest caption and the longest prompts fit.
_TEXT_BYTES = 224
# Renderings go farther than what is learned from, by these factors and this much noise.
_REACH, _NOISE = 1.6, 6.0
_TOGETHER = 1024  # images, so that what is in between stays small


@cache
def load_tic_emoji() -> Table:
    """Return all rows: the wide column ``image``, and what each row is in ``kind``.

    Columns: ``id``, ``time``, ``label``, ``group`` (the identity), ``snapshot``, ``code``,
    ``text``, ``kind``.
    """
    emoji = load_emoji()
    image = drawings_of(emoji)
    known = emoji.columns.select(["time", "label", "group", "snapshot", "code"])
    known = known.append_column("text", pa.array(captions(emoji)))
    ids = emoji.columns.column("id")
    every, history = np.arange(len(emoji)), np.flatnonzero(emoji.values("snapshot") != TWEMOJI)
    # A caption is its code's, through all snapshots: one row each.
    first = np.sort(np.unique(emoji.values("code"), return_index=True)[1])
    parts, numbers = [], []
    for kind, rows in ((PAIR, history), (DRAWING, every), (RENDERING, history), (CAPTION, first)):
        part = known.take(pa.array(rows))
        names = pc.binary_join_element_wise(ids.take(pa.array(rows)), kind, "/")
        parts.append(_with(part, names, kind))
        numbers.append(image.index[rows])
    prompts = pa.table(
        {
            "time": pa.nulls(len(GROUPS), known.schema.field("time").type),
            "label": pa.array(GROUPS),
            "group": pa.array([f"class {name}" for name in GROUPS]),
            "snapshot": pa.array([TWEMOJI] * len(GROUPS), known.schema.field("snapshot").type),
            "code": pa.array([""] * len(GROUPS)),
            "text": pa.array(["\n".join(PROMPTS[name]) for name in GROUPS]),
        }
    )
    parts.append(_with(prompts, pa.array([f"{name}/{PROMPT}" for name in GROUPS]), PROMPT))
    numbers.append(np.zeros(len(GROUPS), np.int64))
    columns = pa.concat_tables(parts)
    index = np.concatenate(numbers).astype(np.int64)
    column = ImageColumn(image.store, index)
    return Table(columns, {"image": column}, f"{emoji.digest}-pairs-1")


def with_pairs(table: Table) -> Table:
    """Give the rows their input: image, text, or both, put together when they are read."""
    pixels, index = distinct_images(table)
    renderings, _ = distinct_images(table, "tic-renderings-1", _renderings)
    kind = table.values("kind")
    rendered = index + np.where(kind == RENDERING, len(pixels), 0)
    texts = table.columns.column("text").to_pylist()
    distinct, number = np.unique(np.array(texts), return_inverse=True)
    return table.with_input(
        EmojiPairs(
            images=np.concatenate([pixels, renderings]),
            image=rendered,
            has_image=np.isin(kind, (PAIR, DRAWING, RENDERING)),
            texts=np.array([cut_text(str(text), _TEXT_BYTES) for text in distinct]),
            text=number,
            has_text=np.isin(kind, (PAIR, CAPTION, PROMPT)),
        )
    )


@dataclass(frozen=True, eq=False)
class EmojiPairs:
    """A wide column of pairs: each row names a distinct image and a distinct text."""

    images: NDArray[np.uint8]
    image: Rows
    has_image: NDArray[np.bool_]
    texts: NDArray[np.bytes_]
    text: Rows
    has_text: NDArray[np.bool_]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of one pair."""
        height, width, colours = self.images.shape[1:]
        return pair_type((height, width, colours), _TEXT_BYTES)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows."""
        return (len(self.image),)

    def __getitem__(self, rows: Rows) -> Array:
        """Return the pairs of these rows."""
        pairs = np.zeros(len(rows), self.dtype)
        seen, read = self.has_image[rows], self.has_text[rows]
        pairs[HAS_IMAGE], pairs[HAS_TEXT] = seen, read
        pairs[IMAGE][seen] = self.images[self.image[rows[seen]]]
        pairs[TEXT][read] = self.texts[self.text[rows[read]]]
        return pairs


def _renderings(images: Array) -> Array:
    """Return each image turned, scaled, shifted and recoloured, with a little noise."""
    rng, found = np.random.default_rng(0), []
    for start in range(0, len(images), _TOGETHER):
        some = as_rgb(images[start : start + _TOGETHER])
        moved = 255 - warped(255 - some, similarities(len(some), rng, _REACH))
        noise = _NOISE * rng.standard_normal(moved.shape, np.float32)
        found.append(np.clip(recoloured(moved, rng) + noise, 0, 255).astype(np.uint8))
    return np.concatenate(found)


def _with(part: pa.Table, ids: pa.Array, kind: str) -> pa.Table:
    part = part.append_column("id", ids)
    return part.append_column("kind", pa.array([kind] * len(part)))
