"""Samples as numbers, by which periods are compared: the stream's own, or a model's of yours."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from onward.data.features import hog_colour
from onward.errors import OnwardError, first_few
from onward.metrics.inputs import Floats
from onward.pairs import IMAGE as IMAGE_OF_PAIR
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.types import Array, Column, Rows, Table

if TYPE_CHECKING:
    from onward.models.clip import Clip

Progress = Callable[[int], None]

_AT_ONCE = 512
_SIDE = 32
_HAND_MADE = (
    "outline and colours of the images at 32 x 32 (histogram of gradients, colour histogram, mean "
    "colours of 4 x 4 fields), which are fitted on nothing"
)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Numbers of samples.

    Parameters
    ----------
    words
        What they are, for people.
    values
        (rows of the table, width): those of `rows` in their order.
    rows
        Ascending, each once.
    """

    words: str
    values: Floats
    rows: Rows

    @property
    def width(self) -> int:
        """How many numbers a sample has."""
        return int(self.values.shape[1])

    def of(self, rows: Rows) -> Floats:
        """Return the numbers of these rows, in this order."""
        return np.asarray(self.values[np.searchsorted(self.rows, rows)])

    def narrowed(self, width: int) -> tuple["Embedding", float]:
        """Return the leading principal components of all samples, and what they keep of the spread.

        An embedding that is no wider than that is returned as it is.
        """
        if self.width <= width:
            return self, 1.0
        centred = self.values - self.values.mean(0)
        power, directions = np.linalg.eigh(centred.T @ centred)
        kept = directions[:, ::-1][:, :width]
        share = float(power[::-1][:width].sum() / power.sum()) if power.sum() > 0 else 1.0
        return Embedding(self.words, centred @ kept, self.rows), share


def own_embedding(table: Table, rows: Rows, progress: Progress = lambda done: None) -> Embedding:
    """Return what learners see of samples; of images, hand-made features of them.

    Parameters
    ----------
    table
        A stream's.
    rows
        Ascending, each once.
    progress
        Called with how many more samples are done.
    """
    column = table.wide["input"]
    if not _has_pairs(column) and len(column.shape) == 2:
        values = np.asarray(column[rows], np.float64)
        progress(len(rows))
        return Embedding("the stream's own inputs", _finite(values, table, rows), rows)
    parts = []
    for some in _blocks(rows):
        images = [_small(image) for image in pictures_in(column, some)]
        parts.append(hog_colour(np.stack(images)))
        progress(len(some))
    return Embedding(_HAND_MADE, np.concatenate(parts).astype(np.float64), rows)


def clip_embedding(
    clip: "Clip", words: str, table: Table, rows: Rows, progress: Progress = lambda done: None
) -> Embedding:
    """Return the directions of images, by a CLIP.

    Parameters
    ----------
    clip, words
        The model, and what it is called.
    table, rows, progress
        See `own_embedding`. The table has images.
    """
    import torch

    column = picture_column(table)
    if column is None:
        raise OnwardError(
            f"expected images for {words}, found none in this stream. Leave --model out: its "
            "inputs are numbers already"
        )
    kind, parts = pair_type((*clip.side, 3), 1), []
    for some in _blocks(rows):
        images = [clip.fit(as_picture(image)) for image in pictures_in(column, some)]
        bytes_ = as_bytes(made_pairs(kind, np.stack(images), None))
        parts.append(clip.embed(torch.from_numpy(bytes_)).float().cpu().numpy())
        progress(len(some))
    return Embedding(words, np.concatenate(parts).astype(np.float64), rows)


def given_embedding(place: Path, table: Table, rows: Rows) -> Embedding:
    """Return embeddings that somebody has computed, found by the ids of samples.

    Parameters
    ----------
    place
        See `onward.curate.given_vectors`; also what ``onward curate embed`` wrote.
    table, rows
        See `own_embedding`.
    """
    from onward.curate.given_vectors import given_files, given_parts

    ids = [str(one) for one in table.columns.column("id").take(rows).to_pylist()]
    wanted = {name: at for at, name in enumerate(ids)}
    values: Array | None = None
    there = np.zeros(len(rows), np.bool_)
    for part in given_parts(given_files(place)):
        loaded = part.load()
        if values is None:
            values = np.zeros((len(rows), loaded.vectors.shape[1]))
        if loaded.vectors.shape[1] != values.shape[1]:
            raise OnwardError(
                f"expected embeddings of one width in {place}, found {values.shape[1]} numbers and "
                f"{loaded.vectors.shape[1]} in {part.name}. Embed all with the same model"
            )
        mine = [(at, wanted[name]) for at, name in enumerate(loaded.ids) if name in wanted]
        if mine:
            theirs, ours = (list(one) for one in zip(*mine, strict=True))
            values[ours], there[ours] = loaded.vectors[theirs], True
    if values is None or not there.all():
        missing = [name for name, found in zip(ids, there, strict=True) if not found]
        raise OnwardError(
            f"expected an embedding of every sample in {place}, found none of {len(missing):,} of "
            f"{len(ids):,}: {first_few(missing)}. Its ids are those of the table: give "
            "--id-column where it is a table of yours"
        )
    return Embedding(f"the embeddings of {place.name}", _finite(values, table, rows), rows)


def picture_column(table: Table) -> Column | None:
    """Return the column in which samples can be seen, if there is one."""
    if "image" in table.wide:
        return table.wide["image"]
    column = table.wide["input"]
    return column if _has_pairs(column) or len(column.shape) == 4 else None


def _has_pairs(column: Column) -> bool:
    return getattr(getattr(column, "dtype", None), "names", None) is not None


def pictures_in(column: Column, rows: Rows) -> Array:
    """Return images as bytes (n, height, width, colours)."""
    found = column[rows]
    return np.asarray(found[IMAGE_OF_PAIR] if found.dtype.names else found)


def as_picture(image: Array) -> Image.Image:
    """Return an image; what is see-through stands on white."""
    whole = Image.fromarray(np.asarray(image, np.uint8)).convert("RGBA")
    paper = Image.new("RGBA", whole.size, "white")
    return Image.alpha_composite(paper, whole).convert("RGB")


def _small(image: Array) -> Array:
    """Return an image as hand-made features want it."""
    if image.shape[:2] != (_SIDE, _SIDE):
        made = as_picture(image).resize((_SIDE, _SIDE), Image.Resampling.BOX)
        return np.asarray(made.convert("RGBA"))
    return np.asarray(Image.fromarray(np.asarray(image, np.uint8)).convert("RGBA"))


def _blocks(rows: Rows) -> list[Rows]:
    return [rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE)]


def _finite(values: Floats, table: Table, rows: Rows) -> Floats:
    wrong = np.flatnonzero(~np.isfinite(values).all(1))
    if len(wrong):
        ids = table.columns.column("id").take(rows[wrong]).to_pylist()
        raise OnwardError(
            f"expected finite embeddings, found NaN or infinity in {len(wrong):,}: "
            f"{first_few(ids)}. Mend them or leave these samples out"
        )
    return values
