"""Where things lie in a tar of samples: walked through once, then remembered.

Samples are named and grouped by webdataset's rules. What it reads from front to back is here found
by place, so that any sample can be read with one seek.
"""

import hashlib
import importlib
import json
import re
import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np

from onward.data.cache import cached
from onward.errors import OnwardError
from onward.extras import need
from onward.types import Array

IMAGES = ("jpg", "jpeg", "png", "webp")
PARTS = ("image", "txt", "json", "cls")
FINE, NO_IMAGE, NO_CAPTION, TWO_IMAGES, TWICE = range(5)
PROBLEMS = {
    NO_IMAGE: "no image",
    NO_CAPTION: "no caption",
    TWO_IMAGES: "two images",
    TWICE: "a member twice",
}
"""What may be wrong with a sample."""
PLACES = np.dtype(
    [(f"{part}_at", np.int64) for part in PARTS]
    + [(f"{part}_size", np.int32) for part in PARTS]
    + [("text_size", np.int32), ("problem", np.uint8)]
)
_BLOCK = 512
_VERSION = "shard-2"
# What webdataset leaves out: folders of metadata, and names like __this__.
_META = re.compile(r"__[^/]*__($|/)")


class DamagedTarError(OnwardError):
    """A tar that cannot be walked through to its end."""


def webdataset() -> Any:
    """Return the module webdataset, which is an extra and takes a moment."""
    need("webdataset", "which knows shards of samples", "clip")
    return importlib.import_module("webdataset")


def tar_index(path: Path) -> Array:
    """Return for each sample of a shard its ``key``, where its parts lie, and its problem.

    The tar has no compression. Its index is kept in our cache, under its size and time. If it is
    cut or damaged, `DamagedTarError` says how.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise OnwardError(
            f"expected a shard in {path}, found none ({error.strerror}). Fetch it again, or point "
            "to the folder that holds the shards"
        ) from error
    name = f"{path.resolve()} {state.st_size} {state.st_mtime_ns}"
    return cached(f"{_VERSION}-{hashlib.sha256(name.encode()).hexdigest()[:24]}", lambda: _of(path))


def _of(path: Path) -> Array:
    with path.open("rb") as file:
        try:
            found = list(_samples(file))
        except (tarfile.TarError, EOFError) as error:
            raise DamagedTarError(str(error)) from error
    index = empty_index(len(found), max((len(key) for key, _ in found), default=1))
    for place, (key, values) in enumerate(found):
        index[place] = (key, *values)
    return index


def empty_index(samples: int = 0, width: int = 1) -> Array:
    """Return an index of so many samples, with keys of so many letters at most."""
    places = [(name, PLACES[name]) for name in PLACES.names or ()]
    return np.zeros(samples, np.dtype([("key", f"S{width}"), *places]))


def _samples(file: IO[bytes]) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Yield key and values of each sample; neighbours with one key are one."""
    for key, members in groupby(tar_members(file), key=lambda member: member[0]):
        parts: dict[str, tuple[int, int]] = {}
        problem = FINE
        for _, extension, at, size in members:
            part = "image" if extension in IMAGES else extension
            if part in parts:
                problem = TWO_IMAGES if part == "image" else TWICE
            parts.setdefault(part, (at, size))
        if not problem and not parts.get("image", (0, 0))[1]:
            problem = NO_IMAGE
        text = _text_size(file, parts)
        if not problem and "cls" not in parts and not text:
            problem = NO_CAPTION
        places = [parts.get(part, (-1, 0)) for part in PARTS]
        found = (*(at for at, _ in places), *(size for _, size in places), text, problem)
        yield key.encode(), found


def tar_members(file: IO[bytes]) -> Iterator[tuple[str, str, int, int]]:
    """Yield key, extension, place and size of each file in a tar; raise where it is cut."""
    split = webdataset().tariterators.base_plus_ext
    with tarfile.open(fileobj=file, mode="r:") as tar:
        for member in tar:
            # What was passed is not needed again, and a shard has tens of thousands.
            tar.members = []  # type: ignore[attr-defined]
            key, extension = split(member.name)
            if member.isreg() and key is not None and not _META.match(member.name):
                yield key, extension.lower(), member.offset_data, member.size
        # Neither a header that is cut nor one that is damaged stops tarfile in the middle.
        file.seek(tar.offset)
        if file.read(_BLOCK) != bytes(_BLOCK):
            raise tarfile.ReadError(f"it ends without the mark of its end, at byte {tar.offset:,}")


def _text_size(file: IO[bytes], parts: dict[str, tuple[int, int]]) -> int:
    """Return how many bytes a caption has; 0 if there is none but blanks."""
    kind = "txt" if "txt" in parts else "json"
    if kind not in parts:
        return 0
    # The tar goes on from where it was by itself: it seeks before it reads.
    at, size = parts[kind]
    file.seek(at)
    content = file.read(size)
    if kind == "txt":
        return size if content.decode("utf-8", "replace").strip() else 0
    return len((caption_of(content) or "").encode())


def caption_of(content: bytes) -> str | None:
    """Return the caption in a sample's json, if there is one that is not blank."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    caption = found.get("caption") if isinstance(found, dict) else None
    return caption if isinstance(caption, str) and caption.strip() else None
