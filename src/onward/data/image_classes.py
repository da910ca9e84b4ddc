"""Images in folders by class: ``train/<class>/*`` and ``val/<class>/*``, as ImageNet has them."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from onward.data.folder_images import SUFFIXES, FolderImages
from onward.data.iirc_hierarchy import columns_by_class
from onward.errors import OnwardError
from onward.types import Rows, Table

_TESTS = ("val", "test")
_SHORTER = 256 / 224
Order = Literal["released", "sorted"]


def has_image_classes(root: Path) -> bool:
    """Say whether a folder has one for training, with classes in it, and one for tests."""
    train = root / "train"
    return (
        train.is_dir()
        and any((root / name).is_dir() for name in _TESTS)
        and any(entry.is_dir() for entry in train.iterdir())
    )


def read_image_classes(root: Path, classes: Sequence[str], *, order: Order, size: int) -> Table:
    """Read images by class: training images first, then those for tests.

    Columns: ``id`` (the path), ``subclass`` and ``test``; and the wide column ``image``.

    Classes are folders, in the order in which they are read. Inside a class, images are ``sorted``
    by name or in `released_order`. The shorter edge is resized to 8/7 of `size`, as usual for
    ImageNet (256 of 224), then the centre is cut out.
    """
    tests = next(name for name in _TESTS if (root / name).is_dir())
    content = hashlib.sha256()
    paths: list[str] = []
    codes: list[int] = []
    counts = []
    for side in ("train", tests):
        here, labels = _listed(root / side, classes, content)
        places = released_order(here) if order == "released" else np.arange(len(here))
        paths += [f"{side}/{here[place]}" for place in places]
        codes += [labels[place] for place in places]
        counts.append(len(here))
    test = np.repeat([False, True], counts)
    columns = columns_by_class(classes, np.array(codes, np.int16), test, paths)
    content.update(order.encode())
    images = FolderImages(root, paths, size, shorter=round(size * _SHORTER))
    return Table(columns, {"image": images}, content.hexdigest(), shown=())


def released_order(paths: Sequence[str]) -> Rows:
    """Return where the released code of IIRC takes each image from.

    It lists one class after the other and means to sort all paths, but sorts by the wrong key:
    place i gets the path whose place in the list is the rank of path i. Where classes are not
    listed by name, the images of a class are rotated or broken up, so that its first few percent
    are others than in its folder. How many each class has stays the same.

    Examples
    --------
    >>> listed = ["b/1", "b/2", "a/1", "a/2", "a/3"]
    >>> [listed[place] for place in released_order(listed)]
    ['a/2', 'a/3', 'b/1', 'b/2', 'a/1']
    """
    rank = np.empty(len(paths), np.int64)
    rank[sorted(range(len(paths)), key=paths.__getitem__)] = np.arange(len(paths))
    return rank


def _listed(
    folder: Path, classes: Sequence[str], content: "hashlib._Hash"
) -> tuple[list[str], list[int]]:
    missing = [name for name in classes if not (folder / name).is_dir()]
    if missing:
        raise OnwardError(
            f"expected a folder for each of {len(classes)} classes in {folder}, found none for "
            f"{', '.join(missing[:5])} ({len(missing)} in all)"
        )
    paths: list[str] = []
    labels: list[int] = []
    for code, name in enumerate(classes):
        with os.scandir(folder / name) as entries:
            files = sorted(
                (entry.name, entry.stat().st_size)
                for entry in entries
                if Path(entry.name).suffix.lower() in SUFFIXES and not entry.name.startswith(".")
            )
        if not files:
            raise OnwardError(f"expected images in {folder / name}, found none")
        content.update(repr((folder.name, name, files)).encode())
        paths += [f"{name}/{file}" for file, _ in files]
        labels += [code] * len(files)
    return paths, labels
