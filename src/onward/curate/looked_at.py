"""What images look like, in two numbers: of their bytes, and of light and dark in them.

Each shard is looked through once and remembered beside the stage, so that a command that was
stopped goes on after the last one.
"""

import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

from onward.binary_files import read_parquet
from onward.curate.images import Place, Shard
from onward.curate.written import write_table
from onward.data.folder_images import UNREADABLE
from onward.data.near_duplicates import difference_hash
from onward.data.tar_index import IMAGES
from onward.data.uid_lists import is_uid, listed_in, uids_of
from onward.table import Array

LOOKED = pa.schema(
    [("id", pa.string()), ("same", pa.uint64()), ("near", pa.uint64()), ("problem", pa.string())]
)
"""An image: hashes of its bytes and of what it shows, or what is wrong with it."""
BROKEN, BOMB = "image cannot be decoded", "image is a decompression bomb"
OTHER_KIND = "image is neither jpg, png nor webp"
FOLDER = "looked"
_SIDE = 32
_AT_A_TIME = 256


def look_at_images(
    shards: Sequence[Shard], wanted: Array, out: Path, watch: Callable[[int], None]
) -> Iterator[pa.Table]:
    """Yield what is known of the wanted images, a shard at a time, with `LOOKED`.

    ``soft_targets`` are sorted ids; ``watch`` is called with how many more images were looked at.
    """
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for shard in shards:
            path = out / FOLDER / f"{shard.name}.parquet"
            if path.is_file():
                table = read_parquet(path, LOOKED.names, fix="Delete it and run again").cast(LOOKED)
                watch(len(table))
            else:
                table = _looked(shard, wanted, threads, watch)
                write_table(path, table)
            yield table


def _looked(
    shard: Shard, wanted: Array, threads: ThreadPoolExecutor, watch: Callable[[int], None]
) -> pa.Table:
    parts = [LOOKED.empty_table()]
    places = (place for place in shard.places() if is_uid(place.id))
    while some := list(islice(places, _AT_A_TIME)):
        here = listed_in(wanted, uids_of([place.id for place in some]))
        mine = [place for place, one in zip(some, here.tolist(), strict=True) if one]
        with warnings.catch_warnings():
            # Of palettes with transparency, which are fine, and of sizes, which are looked at.
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            seen = list(threads.map(_seen, mine))
        squares = [pixels for _, pixels, _ in seen] or [np.zeros((_SIDE, _SIDE, 3), np.uint8)]
        near = difference_hash(np.stack(squares))[: len(seen)]
        columns = [
            pa.array([place.id for place in mine], pa.string()),
            pa.array([same for same, _, _ in seen], pa.uint64()),
            pa.array(near, pa.uint64()),
            pa.array([problem for _, _, problem in seen], pa.string()),
        ]
        parts.append(pa.table(columns, schema=LOOKED))
        watch(len(mine))
    return pa.concat_tables(parts)


def _seen(place: Place) -> tuple[int, Array, str | None]:
    """Return the hash of a file, a small square of what it shows, and what is wrong with it."""
    black = np.zeros((_SIDE, _SIDE, 3), np.uint8)
    try:
        content = place.read()
    except OSError:
        return 0, black, BROKEN
    same = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")
    if place.kind not in IMAGES:
        return same, black, OTHER_KIND
    try:
        return same, _small(content), None
    except Image.DecompressionBombError:
        return same, black, BOMB
    except UNREADABLE:
        return same, black, BROKEN


def _small(content: bytes) -> Array:
    """Return what an image shows, on white, as a small square."""
    with Image.open(io.BytesIO(content), formats=["JPEG", "PNG", "WEBP"]) as image:
        limit = Image.MAX_IMAGE_PIXELS
        if limit is not None and image.width * image.height > limit:
            raise Image.DecompressionBombError(f"{image.width} x {image.height} pixels")
        # A JPEG is decoded to about the size that is needed.
        image.draft("RGB", (4 * _SIDE, 4 * _SIDE))
        shown = image.convert("RGBA")
    white = Image.new("RGBA", shown.size, "white")
    flat = Image.alpha_composite(white, shown).convert("RGB")
    return np.asarray(flat.resize((_SIDE, _SIDE), Image.Resampling.BOX))
