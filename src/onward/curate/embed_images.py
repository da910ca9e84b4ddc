"""Directions of images, by a CLIP that is on this machine."""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from onward.curate.embed import PART_ROWS, Loaded, Part, Wrong
from onward.curate.images import Place, Shard
from onward.data.folder_images import opened_image
from onward.errors import OnwardError
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.table import Array

if TYPE_CHECKING:
    from onward.models.clip import Clip

_AT_A_TIME = 256
# The shorter edge is scaled to what a tower sees: a line of pixels would become a wall of them.
_MOST_TIMES_AS_LONG = 50
_WITHOUT_COLOURS = ("1", "P", "PA", "LA", "I", "F", "I;16")


def image_parts(clip: "Clip", shards: Sequence[Shard], rows: int = PART_ROWS) -> Iterator[Part]:
    """Yield the images of shards as parts: a shard is one, or several if it is large."""
    for shard in shards:
        places = shard.places()
        some = list(islice(places, rows))
        if len(some) < rows:
            yield _part(clip, shard.name, some)
            continue
        number = 0
        while some:
            yield _part(clip, f"{shard.name}-{number:05d}", some)
            some, number = list(islice(places, rows)), number + 1


def images_digest(shards: Sequence[Shard]) -> str:
    """Return what tells these shards from others: names, and the sizes of tars."""
    digest = hashlib.sha256()
    for shard in shards:
        digest.update(f"{shard.name}\n".encode("utf-8", "surrogateescape"))
        if shard.path.is_dir():
            names = [place.path.name for place in shard.places()]
            digest.update("\n".join(names).encode("utf-8", "surrogateescape"))
        else:
            digest.update(str(shard.path.stat().st_size).encode())
    return digest.hexdigest()[:16]


def _part(clip: "Clip", name: str, places: list[Place]) -> Part:
    return Part(name, lambda: _loaded(clip, places))


def _loaded(clip: "Clip", places: list[Place]) -> Loaded:
    import torch

    kind = pair_type((*clip.side, 3), 1)
    ids, found, wrong = [], [np.empty((0, 1), np.float32)], []
    for first in range(0, len(places), _AT_A_TIME):
        images = []
        for place in places[first : first + _AT_A_TIME]:
            fitted = _fitted(clip, place)
            if isinstance(fitted, Wrong):
                wrong.append(fitted)
            else:
                ids.append(place.id)
                images.append(fitted)
        if images:
            rows = as_bytes(made_pairs(kind, np.stack(images), None))
            found.append(clip.embed(torch.from_numpy(rows)).float().cpu().numpy())
    return Loaded(ids, np.concatenate(found[1:] or found), wrong)


def _fitted(clip: "Clip", place: Place) -> Array | Wrong:
    try:
        content = place.read()
    except OSError as error:
        return Wrong(place.id, "cannot be read", str(error.strerror or error))
    if not content:
        return Wrong(place.id, "no bytes")
    try:
        with opened_image(content, lambda: place.id) as image, warnings.catch_warnings():
            # Of palettes with transparency, which are fine.
            warnings.simplefilter("ignore", UserWarning)
            wide, high = image.size
            if max(wide, high) > _MOST_TIMES_AS_LONG * min(wide, high):
                return Wrong(place.id, "too narrow", f"{wide} x {high} pixels")
            return clip.fit(image.convert("RGB") if image.mode in _WITHOUT_COLOURS else image)
    except OnwardError as error:
        bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
        bomb = isinstance(error.__cause__, bombs)
        reason = "decompression bomb" if bomb else "cannot be decoded"
        return Wrong(place.id, reason, " ".join(str(error.__cause__).split()))
