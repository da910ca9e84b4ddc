"""An official CLEAR download as one table. Nothing of it is shipped: point at your own copy.

Columns: ``id`` (of Flickr), ``time`` (upload, UTC; null without metadata), ``label``, ``group``
(who took the photo; the id where that is not known), ``bucket``, ``path``, ``part`` (``train`` or
``test``, new layout only), ``test_0`` and so on (whether a released split tests the sample; the
new layout has one split, its test folder), and what else the metadata say, in small letters. Wide
columns: ``image`` if the images are there, and ``features`` if a type was asked for.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from onward.data.clear_features import ReadTensors, feature_types, read_features
from onward.data.clear_listing import IMAGES, Listing, Sample, list_clear
from onward.data.folder_images import FolderImages, file_sizes
from onward.data.gaps import require_choice
from onward.errors import OnwardError, first_few, unknown
from onward.types import Array, Column, Table

# Already in columns of their own, or about the place of a file.
_KNOWN_FIELDS = {"ID", "DATE_UPLOADED", "USER_ID", "IMG_DIR", "IMG_PATH", "EXT"}
_LISTED = 10


@dataclass(frozen=True, eq=False)
class ClearFolder:
    """What was read from a download.

    ``table`` has the samples of all labelled buckets. ``classes`` are in the order of the
    download's ``class_names.txt``; ``layout`` is ``old`` or ``new``; ``splits`` says how many came
    with the download, and ``missing`` which paths were listed and not there, and were left out
    because that was asked for.
    """

    table: Table
    classes: tuple[str, ...]
    layout: str
    splits: int
    missing: tuple[str, ...]

    @property
    def manifest(self) -> str:
        """Hash of the list of what was missing."""
        return _hash(self.missing)[:16]


def read_clear(
    folder: Path,
    read_tensors: ReadTensors,
    *,
    features: str | None = None,
    size: int = 224,
    missing: Literal["stop", "skip"] = "stop",
) -> ClearFolder:
    """Read an official download.

    Parameters
    ----------
    folder
        Where it was unpacked: the folder that holds ``class_names.txt``, or ``train`` and
        ``test``.
    read_tensors
        Reads a file of tensors into arrays.
    features
        A type such as ``moco_b0`` to read into the wide column ``features``.
    size
        Side of the images in the wide column ``image``.
    missing
        Whether to ``stop`` if an image that is listed is not there, or to ``skip`` its sample.
        Where no image at all was unpacked, features alone are enough.
    """
    require_choice(missing, "docs/benchmarks/clear_data.md")
    listing = list_clear(folder)
    if features is not None:
        _require(features, feature_types(listing), folder)
    if not listing.samples:
        raise OnwardError(
            f"expected labelled samples in buckets named 1, 2, … in {folder}, found none. Point "
            "data at the unpacked download"
        )
    matrix = None if features is None else read_features(listing, features, read_tensors)
    with_images = any((part / IMAGES).is_dir() for part in listing.parts.values())
    sizes: dict[str, int] = {}
    gone: tuple[str, ...] = ()
    if with_images or matrix is None:
        sizes = file_sizes(listing.root, (sample.path for sample in listing.samples))
        there = np.array([sample.path in sizes for sample in listing.samples])
        gone = tuple(sample.path for sample in listing.samples if sample.path not in sizes)
        if gone and (missing == "stop" or not there.any()):
            raise _missing_images(folder, gone, len(listing.samples))
        kept = [sample for sample in listing.samples if sample.path in sizes]
        listing = replace(listing, samples=kept)
        matrix = matrix[there] if matrix is not None and gone else matrix
    columns = _columns(listing)
    wide: dict[str, Column] = {}
    if with_images:
        paths = [sample.path for sample in listing.samples]
        wide["image"] = FolderImages(listing.root, paths, size)
    if matrix is not None:
        wide["features"] = matrix
    # Without features the images are what is learned from, so their size is part of the content.
    kind = features or f"{size} pixels"
    digest = _digest(listing, columns, sizes, gone, kind, matrix)
    return ClearFolder(
        table=Table(columns, wide, digest),
        classes=listing.classes,
        layout=listing.layout,
        splits=len(listing.tests),
        missing=gone,
    )


def _require(features: str, types: list[str], folder: Path) -> None:
    if not types:
        raise OnwardError(
            f"expected {features} features in {folder}, found images only. The methods of the "
            "catalogue train a linear layer on features: fetch the archive that has them. With "
            'features="image", a learner of your own can be given the images'
        )
    if features not in types:
        raise unknown("features", features, types, f"the folders named features in {folder}")


def _columns(listing: Listing) -> pa.Table:
    samples = listing.samples
    users = [sample.metadata.get("USER_ID") for sample in samples]
    times = [_seconds(sample.metadata.get("DATE_UPLOADED")) for sample in samples]
    columns: dict[str, Any] = {
        "id": pa.array([sample.id for sample in samples], pa.string()),
        "time": pa.array(times, pa.timestamp("s", tz="UTC")),
        "label": pa.array([sample.label for sample in samples], pa.string()),
        "group": pa.array([str(u or s.id) for u, s in zip(users, samples, strict=True)]),
        "bucket": pa.array([sample.bucket for sample in samples], pa.int64()),
        "path": pa.array([sample.path for sample in samples], pa.string()),
    }
    if listing.layout == "new":
        columns["part"] = pa.array([sample.part for sample in samples], pa.string())
    for number, tests in enumerate(listing.tests):
        columns[f"test_{number}"] = pa.array([sample.path in tests for sample in samples])
    for name, values in _other_fields(samples).items():
        columns.setdefault(name, values)
    return pa.table(columns)


def _other_fields(samples: list[Sample]) -> dict[str, pa.Array]:
    """Return what else the metadata say, as numbers where all values are, as texts otherwise."""
    names = dict.fromkeys(name for sample in samples for name in sample.metadata)
    found = {}
    for name in names:
        values = [sample.metadata.get(name) for sample in samples]
        if name in _KNOWN_FIELDS or any(isinstance(value, dict | list) for value in values):
            continue
        kinds = {type(value) for value in values if value is not None}
        if not kinds <= {int, float} and kinds != {bool}:
            values = [None if value is None else str(value) for value in values]
        elif float in kinds:
            values = [None if value is None else float(value) for value in values]
        found[name.lower()] = pa.array(values)
    return found


def _seconds(value: Any) -> int | None:
    """Read a Unix time, which some files hold as a text; null if it is none."""
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def _digest(
    listing: Listing,
    columns: pa.Table,
    sizes: Mapping[str, int],
    missing: tuple[str, ...],
    kind: str,
    matrix: Array | None,
) -> str:
    """Name the content: file list, sizes, labels, times, groups, splits and the features' bytes.

    Of images, names and sizes are hashed and not the bytes: reading gigabytes before every run
    would cost more than it protects from.
    """
    whole = hashlib.sha256()
    plain = [name for name in columns.column_names if name.startswith(("test_", "part"))]
    for name in ("id", "label", "group", "bucket", "path", *plain):
        whole.update(_hash([name, *map(str, columns.column(name).to_pylist())]).encode())
    times = columns.column("time").cast(pa.int64()).to_pylist()
    file_bytes = [sizes.get(sample.path) for sample in listing.samples]
    rest = [listing.layout, listing.classes, times, file_bytes, missing, kind]
    whole.update(json.dumps(rest).encode())
    if matrix is not None:
        whole.update(str(matrix.shape).encode())
        whole.update(np.ascontiguousarray(matrix).data)
    return whole.hexdigest()


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _missing_images(folder: Path, paths: tuple[str, ...], total: int) -> OnwardError:
    shown = first_few(paths, "\n  ", _LISTED)
    return OnwardError(
        f"expected {total} images in {folder}, found {total - len(paths)}; missing are "
        f"{len(paths)}:{shown}\nFetch them again, or go on without them with "
        'missing="skip": the run then records what was missing'
    )
