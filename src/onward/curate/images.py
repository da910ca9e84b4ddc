"""Images by id: files in a folder, or members of tar shards, each read when it is asked for."""

import json
import os
import tarfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from onward.data.tar_index import tar_members
from onward.errors import OnwardError

KINDS = ("jpg", "jpeg", "png", "webp", "gif", "bmp")
"""What a file's name ends with, if it is taken for an image."""


@dataclass(frozen=True)
class Place:
    """Where an image lies: a file, or a part of one."""

    id: str
    path: Path
    kind: str
    offset: int = 0
    size: int = -1

    def read(self) -> bytes:
        """Return its bytes, whatever they are."""
        with self.path.open("rb") as file:
            if self.size < 0:
                return file.read()
            return os.pread(file.fileno(), self.size, self.offset)


@dataclass(frozen=True)
class Shard:
    """Images that are worked on together: a tar, or the images directly in one folder.

    In a tar an image's id is the ``id`` in its json, else its key; of a file it is the name without
    its ending.
    """

    name: str
    path: Path

    def places(self) -> Iterator[Place]:
        """Yield where each image lies, in the order of the tar, or of names."""
        if self.path.is_dir():
            files = [path for path in self.path.iterdir() if _kind(path) in KINDS]
            yield from (Place(path.stem, path, _kind(path)) for path in sorted(files))
            return
        try:
            with self.path.open("rb") as file:
                for key, members in groupby(tar_members(file), key=lambda member: member[0]):
                    yield from self._place(key, list(members))
        except (tarfile.TarError, EOFError) as error:
            raise OnwardError(
                f"expected a whole tar file in {self.path}, found one that is cut off or damaged "
                f"({error}). Fetch it again; no other file is concerned"
            ) from error

    def _place(self, key: str, members: list[tuple[str, str, int, int]]) -> Iterator[Place]:
        found = {kind: (offset, size) for _, kind, offset, size in members}
        image = next((kind for kind in found if kind in KINDS), None)
        if image is None:
            return
        name = key
        if "json" in found:
            offset, size = found["json"]
            try:
                held = json.loads(Place(key, self.path, "json", offset, size).read())
            except (ValueError, RecursionError):
                held = None  # an image with a damaged companion is still an image
            name = str(held.get("id") or key) if isinstance(held, dict) else key
        yield Place(name, self.path, image, *found[image])


def image_shards(folder: Path) -> list[Shard]:
    """Return the shards of a folder: its tars by name, or each folder below that has images."""
    if not folder.is_dir():
        raise OnwardError(f"expected a folder of images or of tar shards, found none at {folder}")
    tars = sorted(folder.glob("*.tar"))
    if tars:
        return [Shard(path.stem, path) for path in tars]
    found = []
    for name, folders, files in os.walk(folder):
        folders.sort()
        here = Path(name)
        if any(_kind(Path(file)) in KINDS for file in files):
            relative = here.relative_to(folder).as_posix()
            found.append(Shard("all" if relative == "." else relative.replace("/", "__"), here))
    if not found:
        raise OnwardError(
            f"expected images ({', '.join(KINDS)}) or tar shards in {folder}, found none"
        )
    return found


def find_images(folder: Path, ids: Collection[str]) -> dict[str, Place]:
    """Return where these images lie; those that are not there are left out.

    Shards are walked through once, and only what is wanted is remembered.
    """
    wanted = set(ids)
    found: dict[str, Place] = {}
    for shard in image_shards(folder):
        for place in shard.places():
            if place.id in wanted:
                found.setdefault(place.id, place)
        if len(found) == len(wanted):
            break
    return found


def _kind(path: Path) -> str:
    return path.suffix[1:].lower()
