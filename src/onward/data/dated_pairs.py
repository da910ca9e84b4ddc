"""Dated pairs of images and captions, in memory: what shards are written from."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onward.data.emoji_history import TWEMOJI, captions, load_emoji, with_images
from onward.data.yours_files import read_file
from onward.data.yours_images import image_parts
from onward.data.yours_times import read_times
from onward.errors import OnwardError
from onward.table import Column
from onward.types import Array, Rows


@dataclass(frozen=True, eq=False)
class DatedPairs:
    """One row per pair, in no order.

    ``ids`` has each name once; ``groups`` what must not be on both sides of a split; ``images`` RGB
    bytes of one size.
    """

    ids: tuple[str, ...]
    days: NDArray[np.datetime64]
    captions: tuple[str, ...]
    labels: Array
    groups: Array
    images: Column

    def rgb(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of some rows."""
        return np.asarray(self.images[rows], np.uint8)


def emoji_pairs() -> DatedPairs:
    """Return the emoji history: drawings, and what they are called."""
    emoji = load_emoji()
    rows = np.flatnonzero(emoji.values("snapshot") != TWEMOJI)
    said, ids = captions(emoji), emoji.values("id")
    return DatedPairs(
        tuple(str(name) for name in ids[rows]),
        emoji.values("time")[rows].astype("datetime64[D]"),
        tuple(said[row] for row in rows.tolist()),
        emoji.values("label")[rows].astype(str),
        emoji.values("group")[rows].astype(str),
        with_images(emoji).wide["input"][rows],
    )


def table_pairs(path: Path, side: int) -> DatedPairs:
    """Return a table of yours with the columns ``time``, ``image`` and ``caption``.

    It may have ``label``, which images are then classified into, and ``group``, whose samples stay
    on one side of a split.
    """
    file = read_file(path)
    rows = file.rows
    gone = [name for name in ("time", "image", "caption") if name not in rows.column_names]
    if gone:
        raise OnwardError(
            f"expected columns time, image and caption in {path}, found none called "
            f"{', '.join(gone)} among {', '.join(rows.column_names)}. Rename them"
        )
    times = read_times(rows.column("time"), "time").values
    images = image_parts(rows.column("image"), "image", file.root)
    said = [str(text or "").strip() for text in rows.column("caption").to_pylist()]
    whole = ~np.isnat(times) & images.there & np.array([bool(text) for text in said])
    if not whole.all():
        raise OnwardError(
            f"expected a time, an image and a caption in every row of {path}, found "
            f"{int((~whole).sum())} without (first: row {int(np.argmin(whole))}). Take them out"
        )
    every = np.arange(len(said))
    columns = {
        name: np.array([str(value) for value in rows.column(name).to_pylist()])
        if name in rows.column_names
        else np.array(usual)
        for name, usual in (("label", ["thing"] * len(said)), ("group", every.astype(str)))
    }
    return DatedPairs(
        tuple(str(row) for row in every),
        times.astype("datetime64[D]"),
        tuple(said),
        columns["label"],
        columns["group"],
        images.images(every, side),
    )
