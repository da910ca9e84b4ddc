"""Samples most typical of change: those that the classifier is surest about."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onward.drift.embedding import as_picture, picture_column, pictures_in
from onward.drift.measure import Drift
from onward.drift.pairs import Pair
from onward.drift.texts import captions
from onward.report.fields import printable
from onward.report.rendering import data_uri
from onward.types import Array, Rows

SHOWN = 12
_SIDE = 96
_MOST_LETTERS = 140
_MOST_PAIRS = 5


@dataclass(frozen=True)
class Shot:
    """A sample: its image, if it has one, and what else is known of it."""

    image: str
    words: str


@dataclass(frozen=True)
class Typical:
    """The oldest-looking samples of the older period, and the newest-looking of the newer one."""

    before: str
    after: str
    oldest: Sequence[Shot]
    newest: Sequence[Shot]


def typical_of_change(found: Drift, most: int = SHOWN) -> list[Typical]:
    """Return samples of the pairs that drift: from first to last, and of the largest steps."""
    last = len(found.parts) - 1
    moved = [pair for pair in found.pairs if pair.drift and pair.told is not None]
    ends = [pair for pair in moved if (pair.before, pair.after) == (0, last)]
    steps = [pair for pair in moved if pair.neighbours and pair not in ends]
    steps.sort(key=lambda pair: -(pair.told.accuracy if pair.told else 0))
    texts, _ = captions(found.benchmark, found.stream.table, found.text_column or None)
    return [_typical(found, pair, texts, most) for pair in (ends + steps)[:_MOST_PAIRS]]


def _typical(found: Drift, pair: Pair, texts: Sequence[str], most: int) -> Typical:
    assert pair.told is not None
    one, other = found.parts[pair.before], found.parts[pair.after]
    return Typical(
        one.name,
        other.name,
        _shots(found, _first(one.embedded, one.groups[one.drawn], pair.told.scores_a, most), texts),
        _shots(
            found,
            _first(other.embedded, other.groups[other.drawn], -pair.told.scores_b, most),
            texts,
        ),
    )


def _first(rows: Rows, groups: Array, scores: Array, most: int) -> Rows:
    """Return the rows of the lowest scores, one of each group."""
    order = np.argsort(scores, kind="stable")
    _, first = np.unique(groups[order], return_index=True)
    return np.asarray(rows[order[np.sort(first)[:most]]])


def _shots(found: Drift, rows: Rows, texts: Sequence[str]) -> list[Shot]:
    table = found.stream.table
    column = picture_column(table)
    images = (
        [""] * len(rows) if column is None else [_image(one) for one in pictures_in(column, rows)]
    )
    ids = table.columns.column("id").take(rows).to_pylist()
    said = [texts[row] if texts else str(ids[at]) for at, row in enumerate(rows)]
    return [
        Shot(image, _short(printable(" ".join(words.split()))))
        for image, words in zip(images, said, strict=True)
    ]


def _image(pixels: Array) -> str:
    made = as_picture(pixels)
    if max(made.size) > _SIDE:
        made.thumbnail((_SIDE, _SIDE))
    sink = io.BytesIO()
    made.save(sink, "WEBP", quality=80)
    return data_uri(sink.getvalue(), "webp")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
