"""Embeddings of images by a CLIP that is on this machine, read ahead by the workers of a loader."""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, UnidentifiedImageError

from onward.curate.embed import PART_ROWS, Loaded, Part, Wrong
from onward.curate.images import Place, Shard
from onward.data.folder_images import opened_image
from onward.errors import OnwardError
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.table import Array

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from onward.models.clip import Clip

# Images that are read by one worker at a time, and embedded together.
_BATCH_SIZE = 64
# The shorter edge is resized to a tower's input: a line of pixels would take all memory.
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


@dataclass(frozen=True, eq=False)
class _Batch:
    """Images as rows of bytes, their ids, and what cannot be embedded."""

    rows: "Tensor"
    ids: list[str]
    wrong: list[Wrong]

    def to(self, device: "torch.device", *, non_blocking: bool = False) -> "_Batch":
        """Return it with the images on a device."""
        return replace(self, rows=self.rows.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "_Batch":
        """Return it with the images in page-locked memory, as a loader asks for."""
        return replace(self, rows=self.rows.pin_memory())


def _loaded(clip: "Clip", places: list[Place]) -> Loaded:
    """Read and embed images."""
    from onward.train.loading import batches

    items = [places[first : first + _BATCH_SIZE] for first in range(0, len(places), _BATCH_SIZE)]
    ids: list[str] = []
    wrong: list[Wrong] = []
    found = [np.empty((0, 1), np.float32)]
    for _, batch in batches(partial(_read, clip), items, len(items), clip.device):
        ids += batch.ids
        wrong += batch.wrong
        if batch.ids:
            found.append(clip.embed(batch.rows).float().cpu().numpy())
    return Loaded(ids, np.concatenate(found[1:] or found), wrong)


def _read(clip: "Clip", places: list[Place]) -> _Batch:
    import torch

    ids, images, wrong = [], [], []
    for place in places:
        fitted = _fitted(clip, place)
        if isinstance(fitted, Wrong):
            wrong.append(fitted)
        else:
            ids.append(place.id)
            images.append(fitted)
    kind = pair_type((*clip.side, 3), 1)
    stacked = np.stack(images) if images else np.empty((0, *clip.side, 3), np.uint8)
    rows = torch.from_numpy(as_bytes(made_pairs(kind, stacked, None)))
    return _Batch(rows, ids, wrong)


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
        # Pillow's own words for an unknown format have an address in memory.
        unknown = isinstance(error.__cause__, UnidentifiedImageError)
        detail = "unknown format" if unknown else " ".join(str(error.__cause__).split())
        return Wrong(place.id, reason, detail)
