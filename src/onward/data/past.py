"""Images without labels from before the first period: what pre-training may learn from."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onward.data.clear_listing import IMAGES
from onward.data.emoji_history import load_emoji
from onward.data.folder_images import SUFFIXES, FolderImages
from onward.errors import OnwardError, unknown
from onward.types import Column

_BUCKET = "0"


@dataclass(frozen=True, eq=False)
class Past:
    """Images to learn from, as bytes; what they are, for people; and a hash of their content."""

    images: Column
    name: str
    digest: str


def read_past(data: str, size: int) -> Past:
    """Read the unlabelled first bucket of CLEAR.

    ``emoji`` stands for the drawings of 2016, each once. Of a CLEAR download it is bucket 0, and
    nothing else; of any other folder all images below it, which are to be from before bucket 1.

    Examples
    --------
    >>> past = read_past("emoji", 32)
    >>> past.name, past.images.shape
    ('emoji of 2016-06-17', (1266, 32, 32, 4))
    """
    if data == "emoji":
        return _emoji()
    root = Path(data).expanduser()
    if not root.is_dir():
        raise unknown("data", data, ["emoji", "<a folder>"], "onward list data")
    buckets = [folder for place in (root, *root.glob("*/")) if (folder := place / IMAGES).is_dir()]
    if buckets and not any((folder / _BUCKET).is_dir() for folder in buckets):
        raise OnwardError(
            f"expected images of bucket 0 in {buckets[0] / _BUCKET}, found none. Later buckets are "
            "what is learned and tested: to pre-train on them would be to look ahead. Point --data "
            "at a folder of images from before bucket 1"
        )
    folders = [folder / _BUCKET for folder in buckets] or [root]
    found = [path for folder in folders for path in folder.rglob("*")]
    images = sorted(path for path in found if path.suffix.lower() in SUFFIXES)
    if not images:
        raise OnwardError(f"expected images in {folders[0]}, found none")
    listed = hashlib.sha256(f"{size} pixels".encode())
    for path in images:
        listed.update(f"\n{path.relative_to(root)} {path.stat().st_size}".encode())
    paths = [str(path.relative_to(root)) for path in images]
    name = f"{root.resolve().name}, bucket 0" if buckets else root.resolve().name
    return Past(FolderImages(root, paths, size), name, listed.hexdigest())


def _emoji() -> Past:
    table = load_emoji()
    first = np.flatnonzero(table.values("snapshot") == 0)
    images = table.wide["image"][first]
    # Some emoji share a drawing; it is seen once.
    distinct = np.unique(images.reshape(len(images), -1), axis=0).reshape(-1, *images.shape[1:])
    day = str(table.values("time")[first[0]].astype("datetime64[D]"))
    digest = hashlib.sha256(distinct.tobytes()).hexdigest()
    return Past(distinct, f"emoji of {day}", digest)
