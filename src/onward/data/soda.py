"""SODA10M on disk: annotation files read into tables of images and of objects, and checked.

The layout, below the folder that holds ``SSLAD-2D`` (either of the inner folders will do too)::

    SSLAD-2D/labeled/annotations/instance_{train,val,test}.json
    SSLAD-2D/labeled/{train,val,test}/HT_<SPLIT>_<number>_<city>_<period, location, weather>.jpg

CLAD needs ``date``, ``time`` and ``file_name_old`` of every image, which the public annotation
files do not have: its authors' time annotations replace them.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onward.data.folder_images import file_sizes
from onward.data.soda_words import CATEGORIES, DOMAINS, place_in_name, timestamp, video_and_sequence
from onward.errors import OnwardError, first_few
from onward.types import Array

SPLITS = ("train", "val", "test")
# Annotators' boxes may end with the pixel that lies outside by rounding.
_SLACK = 1.0


@dataclass(frozen=True, eq=False)
class Split:
    """One annotation file.

    Attributes
    ----------
    name
        ``train``, ``val`` or ``test``: SODA10M's splits, which are not CLAD's.
    images
        One row per image, in the file's order: ``id``, ``path`` below the folder ``labeled``,
        ``width``, ``height``, ``city``, ``location``, ``period``, ``weather``, ``time`` (null where
        the file has no date), ``video`` and ``sequence`` (texts).
    objects
        One row per annotation, in the file's order: ``id``, ``image`` (a row of `images`),
        ``category`` (1 to 6), ``x``, ``y``, ``w``, ``h``, ``area``, ``crowd`` and ``occluded``
        (null where the file does not say).
    digest
        Content hash: the annotation file, and the sizes of the images.
    """

    name: str
    images: pa.Table
    objects: pa.Table
    digest: str


@dataclass(frozen=True, eq=False)
class Soda:
    """All of the labelled part; ``folder`` holds ``annotations`` and the images of each split."""

    folder: Path
    train: Split
    val: Split
    test: Split

    @property
    def splits(self) -> tuple[Split, Split, Split]:
        """All three files."""
        return self.train, self.val, self.test

    @property
    def digests(self) -> str:
        """The content hashes of all three files, one after the other."""
        return "".join(split.digest for split in self.splits)


def read_soda(root: Path) -> Soda:
    """Read the labelled part of SODA10M, or any folder of the same layout."""
    folder = labelled_folder(root)
    return Soda(folder, *(read_split(folder, name) for name in SPLITS))


def labelled_folder(root: Path) -> Path:
    """Return the folder with the annotations, or say where they were expected."""
    for folder in _places(root):
        if (folder / "annotations").is_dir():
            return folder
    raise OnwardError(
        f"expected SODA10M's annotations in {root / 'SSLAD-2D' / 'labeled' / 'annotations'}, found "
        "no such folder. Point to the folder that holds SSLAD-2D, or make a stand-in with: "
        "onward data make street --out DIR"
    )


def is_soda(root: Path) -> bool:
    """Whether a folder looks like SODA10M's."""
    return any((folder / "annotations" / "instance_val.json").is_file() for folder in _places(root))


def _places(root: Path) -> tuple[Path, ...]:
    return (root / "SSLAD-2D" / "labeled", root / "labeled", root)


def read_split(folder: Path, name: str) -> Split:
    """Read one annotation file, and stop with a list of what is wrong with it."""
    path = folder / "annotations" / f"instance_{name}.json"
    if not path.is_file():
        raise OnwardError(f"expected an annotation file {path}, found none. Fetch it again")
    content = path.read_bytes()
    try:
        document = json.loads(content)
        entries = [document[part] for part in ("images", "annotations")]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise OnwardError(
            f"expected COCO annotations with images and annotations in {path}, found another kind "
            f"of file ({error}). Fetch it again"
        ) from error
    try:
        images, problems = _images(entries[0], name)
        objects = _objects(entries[1], images.column("id").to_pylist())
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise OnwardError(
            f"expected images with file_name, id, width and height and annotations with id, "
            f"image_id, category_id and bbox in {path}, found an entry without ({error!r})"
        ) from error
    _refuse(path, problems)
    _refuse(path, list(_wrong_objects(images, objects, entries[1])))
    sizes = file_sizes(folder, images.column("path").to_pylist())
    missing = [name for name in images.column("path").to_pylist() if name not in sizes]
    _refuse(path, [f"image {name}: it is annotated, and there is no such file" for name in missing])
    digest = hashlib.sha256(content)
    digest.update(json.dumps(sorted(sizes.items())).encode())
    return Split(name, images, objects, digest.hexdigest())


def contradictions(split: Split) -> list[str]:
    """Return the images of which the annotations and the file name say different things."""
    found = []
    rows = split.images.select(["path", *DOMAINS]).to_pylist()
    for row in rows:
        in_name = place_in_name(row["path"].rpartition("/")[2])
        for name in DOMAINS:
            other = getattr(in_name, name)
            if other is not None and other != row[name]:
                found.append(
                    f"image {row['path']}: its {name} is {row[name]}, its name says {other}"
                )
    return found


def _images(entries: list[dict[str, Any]], split: str) -> tuple[pa.Table, list[str]]:
    """Return the table of images, and what is wrong with their times."""
    problems: list[str] = []
    rows: dict[str, list[Any]] = {name: [] for name in (*DOMAINS, "time", "video", "sequence")}
    for entry in entries:
        in_name = place_in_name(entry["file_name"])
        for name in DOMAINS:
            rows[name].append(entry.get(name) or getattr(in_name, name))
        time, video, sequence = None, "", ""
        try:
            if entry.get("date") is not None or entry.get("time") is not None:
                time = timestamp(str(entry.get("date", "")), str(entry.get("time", "")))
            if entry.get("file_name_old") is not None:
                video, sequence = video_and_sequence(str(entry["file_name_old"]))
        except ValueError as error:
            problems.append(f"image {entry['file_name']}: {error}")
        for name, value in (("time", time), ("video", video), ("sequence", sequence)):
            rows[name].append(value)
    whole = {
        "id": pa.array([entry["id"] for entry in entries], pa.int64()),
        "path": pa.array([f"{split}/{entry['file_name']}" for entry in entries], pa.string()),
        "width": pa.array([entry["width"] for entry in entries], pa.int64()),
        "height": pa.array([entry["height"] for entry in entries], pa.int64()),
    }
    problems += [
        f"image {number}: {count} images have this id"
        for number, count in Counter(entry["id"] for entry in entries).items()
        if count > 1
    ]
    kinds = {"time": pa.timestamp("s")}
    rest = {name: pa.array(rows[name], kinds.get(name, pa.string())) for name in rows}
    return pa.table({**whole, **rest}), problems


def _objects(entries: list[dict[str, Any]], image_ids: list[int]) -> pa.Table:
    """Return the table of objects; -1 stands for an image that is not there."""
    row_of = {number: row for row, number in enumerate(image_ids)}
    boxes = np.array([entry["bbox"] for entry in entries], np.float64).reshape(len(entries), 4)
    # Some tools write null where an area is left to the reader.
    areas = [
        entry["bbox"][2] * entry["bbox"][3] if entry.get("area") is None else entry["area"]
        for entry in entries
    ]
    return pa.table(
        {
            "id": pa.array([entry["id"] for entry in entries], pa.int64()),
            "image": pa.array([row_of.get(entry["image_id"], -1) for entry in entries], pa.int64()),
            "category": pa.array([entry["category_id"] for entry in entries], pa.int64()),
            **{name: boxes[:, column] for column, name in enumerate("xywh")},
            "area": pa.array(areas, pa.float64()),
            "crowd": pa.array([bool(entry.get("iscrowd", 0)) for entry in entries]),
            "occluded": pa.array([entry.get("occluded") for entry in entries], pa.int64()),
        }
    )


def _wrong_objects(
    images: pa.Table, objects: pa.Table, entries: list[dict[str, Any]]
) -> Iterator[str]:
    image, category = values(objects, "image"), values(objects, "category")
    x, y, w, h = (values(objects, name) for name in "xywh")
    lost = image < 0
    # The last entry stands for an image that is not there.
    width, height = (np.append(values(images, name), 0)[image] for name in ("width", "height"))
    outside = (x < -_SLACK) | (y < -_SLACK)
    outside |= (x + w > width + _SLACK) | (y + h > height + _SLACK)
    strange = ~np.isin(category, list(CATEGORIES))
    # Written as a negation, so that NaN is wrong too.
    flat = ~((w > 0) & (h > 0) & np.isfinite(x) & np.isfinite(y))
    for row in np.flatnonzero(lost | outside | flat | strange).tolist():
        entry = entries[row]
        start = f"annotation {entry['id']}: "
        if lost[row]:
            yield f"{start}its image {entry['image_id']} is not among the images of the file"
            continue
        if strange[row]:
            yield f"{start}expected a category id from 1 to 6, found {entry['category_id']}"
        if flat[row]:
            yield f"{start}expected a box with an area, found {entry['bbox']}"
        elif outside[row]:
            frame = f"{width[row]} x {height[row]}"
            yield f"{start}expected a box inside its image of {frame}, found {entry['bbox']}"


def _refuse(path: Path, problems: Sequence[str]) -> None:
    if problems:
        shown = first_few(problems, "\n  ")
        raise OnwardError(
            f"{path} cannot be used:{shown}\nFetch what is wrong again, or correct it"
        )


def values(table: pa.Table, name: str) -> Array:
    """Return one column as a numpy array."""
    return np.asarray(table.column(name).to_numpy())
