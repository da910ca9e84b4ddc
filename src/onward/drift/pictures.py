"""Samples most typical of change: those that the classifier is surest about."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onward.drift.embedding import as_picture, picture_column, pictures_in
from onward.drift.measure import Drift
from onward.drift.pairs import Pair
from onward.drift.slices import Slice
from onward.drift.texts import captions
from onward.report.fields import printable, shortened
from onward.report.rendering import data_uri
from onward.types import Array, Rows

_SHOWN = 12
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


def typical_of_change(found: Drift) -> list[Typical]:
    """Return samples of the pairs that drift: from first to last, and of the largest steps."""
    last = len(found.parts) - 1
    moved = [pair for pair in found.pairs if pair.drift and pair.told is not None]
    ends = [pair for pair in moved if (pair.before, pair.after) == (0, last)]
    steps = [pair for pair in moved if pair.neighbours and pair not in ends]
    steps.sort(key=lambda pair: -(pair.told.accuracy if pair.told else 0))
    texts, _ = captions(found.benchmark, found.stream.table, found.text_column or None)
    return [_typical(found, pair, texts) for pair in (ends + steps)[:_MOST_PAIRS]]


def _typical(found: Drift, pair: Pair, texts: Sequence[str]) -> Typical:
    assert pair.told is not None
    one, other = found.parts[pair.before], found.parts[pair.after]
    return Typical(
        one.name,
        other.name,
        _shots(found, _first(one, pair.told.scores_a), texts),
        _shots(found, _first(other, -pair.told.scores_b), texts),
    )


def _first(part: Slice, scores: Array) -> Rows:
    """Return the rows of the lowest scores, one of each group."""
    order = np.argsort(scores, kind="stable")
    _, first = np.unique(part.groups[part.drawn][order], return_index=True)
    return np.asarray(part.embedded[order[np.sort(first)[:_SHOWN]]])


def _shots(found: Drift, rows: Rows, texts: Sequence[str]) -> list[Shot]:
    table = found.stream.table
    column = picture_column(table)
    images = (
        [""] * len(rows) if column is None else [_image(one) for one in pictures_in(column, rows)]
    )
    ids = table.columns.column("id").take(rows).to_pylist()
    said = [texts[row] if texts else str(ids[at]) for at, row in enumerate(rows)]
    return [
        Shot(image, shortened(printable(" ".join(words.split())), _MOST_LETTERS))
        for image, words in zip(images, said, strict=True)
    ]


def _image(pixels: Array) -> str:
    made = as_picture(pixels)
    if max(made.size) > _SIDE:
        made.thumbnail((_SIDE, _SIDE))
    sink = io.BytesIO()
    made.save(sink, "WEBP", quality=80)
    return data_uri(sink.getvalue(), "webp")
