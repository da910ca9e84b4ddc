"""CIFAR-100 as it is published: two pickled files of images, and one with the names of classes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onward.data.hashing import hash_rows
from onward.data.iirc_hierarchy import columns_by_class
from onward.data.images import NoisyImages
from onward.data.pickled import read_pickle
from onward.errors import OnwardError
from onward.types import Rows, Table

_SIDE, _PLANES = 32, 3
_WIDTH = _PLANES * _SIDE * _SIDE
_IN_FILE = "the content of CIFAR-100's file"
_ENTRIES = {"filenames", "batch_label", "fine_labels", "coarse_labels", "data"}
_NAMES = {"fine_label_names", "coarse_label_names"}


def cifar_folder(root: Path) -> Path | None:
    """Return where CIFAR-100's files lie, in a folder or being it; None if they do not."""
    for folder in (root / "cifar-100-python", root):
        if folder.is_dir() and any((folder / n).is_file() for n in ("train", "test", "meta")):
            return folder
    return None


@dataclass(frozen=True, eq=False)
class PlanarImages(NoisyImages):
    """A wide column of images as CIFAR stores them, colour by colour, in several files.

    Each of ``parts`` has the bytes of one file, of shape (samples, 3,072).
    """

    _NOISES: ClassVar[int] = 64

    parts: tuple[NDArray[np.uint8], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        return (sum(map(len, self.parts)), _SIDE, _SIDE, _PLANES)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of these rows as RGB bytes."""
        # Not copied into another order: networks read colour by colour too.
        planes = self._flat(rows).reshape(-1, _PLANES, _SIDE, _SIDE)
        images = planes.transpose(0, 2, 3, 1)
        self.put_noise(images, rows)
        return images

    def _flat(self, rows: Rows) -> NDArray[np.uint8]:
        found = np.empty((len(rows), _WIDTH), np.uint8)
        first = 0
        for part in self.parts:
            here = (rows >= first) & (rows < first + len(part))
            if here.all():
                found = part[rows - first]
            elif here.any():
                found[here] = part[rows[here] - first]
            first += len(part)
        return found


def read_cifar(folder: Path) -> Table:
    """Read CIFAR-100: training samples first, then test samples, in the order of their files.

    Columns: ``id``, ``subclass`` (the fine label) and ``test``; and the wide column ``image``,
    which stays in the files until it is read.
    """
    names = _names(folder / "meta")
    parts, labels = zip(
        *(_samples(folder / side, names) for side in ("train", "test")), strict=True
    )
    codes = np.concatenate(labels)
    test = np.repeat([False, True], [len(part) for part in parts])
    columns = columns_by_class(names, codes, test)
    content = hashlib.sha256(" ".join(names).encode())
    for array in (codes, test, *map(hash_rows, parts)):
        content.update(array.tobytes())
    images = PlanarImages(parts)
    return Table(columns, {"image": images}, content.hexdigest(), shown=())


def _names(path: Path) -> list[str]:
    found = _entries(path, _NAMES).get("fine_label_names")
    try:
        if not isinstance(found, list) or not found:
            raise TypeError(type(found).__name__)
        names = [_utf8(name) for name in found]
    except (TypeError, UnicodeError) as error:
        raise OnwardError(
            f"expected fine_label_names in {path} as a list of texts, found another content "
            f"({error}). Unpack cifar-100-python.tar.gz again"
        ) from error
    if len(set(names)) < len(names):
        raise OnwardError(f"expected every class once in {path}, found {len(names)} names")
    return names


def _utf8(name: Any) -> str:
    if not isinstance(name, str | bytes):
        raise TypeError(type(name).__name__)
    # A text of half a character would fail later, where it is written.
    return (name.encode() if isinstance(name, str) else name).decode()


def _samples(path: Path, names: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    entries = _entries(path, _ENTRIES)
    missing = sorted({"data", "fine_labels"} - set(entries))
    if missing:
        raise OnwardError(f"expected {' and '.join(missing)} in {path}, found {sorted(entries)}")
    data, given = entries["data"], entries["fine_labels"]
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape[1:] != (_WIDTH,):
        found = f"{data.dtype} of shape {data.shape}" if hasattr(data, "dtype") else "none"
        raise OnwardError(f"expected images of {_WIDTH} bytes in {path}, found {found}")
    whole = isinstance(given, list) and set(map(type, given)) <= {int}
    if not whole and not (isinstance(given, np.ndarray) and given.ndim == 1):
        raise OnwardError(f"expected a list of whole numbers as fine_labels in {path}")
    labels = np.asarray(given, np.int64)
    if len(labels) != len(data) or not len(data):
        raise OnwardError(
            f"expected a label for every image in {path}, found {len(labels)} labels and "
            f"{len(data)} images"
        )
    if labels.min() < 0 or labels.max() >= len(names):
        raise OnwardError(
            f"expected fine labels from 0 to {len(names) - 1} in {path}, found {labels.min()} to "
            f"{labels.max()}"
        )
    return data, labels.astype(np.int16)


def _entries(path: Path, known: set[str]) -> Mapping[str, Any]:
    if not path.is_file():
        raise OnwardError(
            f"expected CIFAR-100's files train, test and meta, found no {path}. Unpack "
            "cifar-100-python.tar.gz again"
        )
    content = f"{_IN_FILE} {path.name}"
    found = read_pickle(path, content)
    if not isinstance(found, dict):
        raise OnwardError(f"expected {content} in {path}, found {type(found).__name__}")
    texts = {key.decode("latin1") if isinstance(key, bytes) else key: v for key, v in found.items()}
    strange = sorted(set(texts) - known)
    if strange:
        raise OnwardError(
            f"expected {content} in {path}, found an entry {strange[0]!r} in it. Is it another "
            "dataset?"
        )
    return texts
