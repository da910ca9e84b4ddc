"""Which samples an official CLEAR download holds, in both layouts that were released.

Old (``clear10_neurips2021``, ``clear100_cvpr2022``): one folder, with file lists and five 70/30
splits below ``training_folder``. New (``clear10``, ``clear100``): a ``train`` and a ``test``
folder, listed by their metadata. Image-only archives of the new one (``train_image_only`` and
``test``) are listed by the folders themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from onward.data.folder_images import SUFFIXES
from onward.data.read_files import read_json, read_text
from onward.errors import OnwardError, first_few

IMAGES = "labeled_images"
_TRAIN_FOLDERS = ("train", "train_image_only")
_FILELISTS = "training_folder/filelists"
_SPLITS = "training_folder/testset_ratio_0.3"


@dataclass(frozen=True)
class Sample:
    """One labelled photo: ``path`` begins at the download's folder."""

    id: str
    bucket: int
    label: str
    path: str
    part: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """The samples of a download, sorted by bucket, in the order of its own lists inside one.

    ``tests`` holds the paths that each released split tests; there is none if no split came with
    the download. ``parts`` are its folders with images and features, by name: "" in the old
    layout.
    """

    root: Path
    layout: str
    classes: tuple[str, ...]
    samples: list[Sample]
    tests: tuple[frozenset[str], ...]
    parts: Mapping[str, Path]


def is_clear(root: Path) -> bool:
    """Say whether a folder looks like a download of CLEAR."""
    return any(_is_part(folder) for folder in (root, *(root / name for name in _TRAIN_FOLDERS)))


def list_clear(root: Path) -> Listing:
    """Recognise the layout of a download, and list its samples."""
    train = next((root / name for name in _TRAIN_FOLDERS if _is_part(root / name)), None)
    if train is not None and _is_part(root / "test"):
        return _list_parts(root, {"train": train, "test": root / "test"})
    if _is_part(root):
        return _list_old(root)
    raise _not_clear(root)


def inside(folder: Path, relative: str) -> Path:
    """Return a path that a file of the download names, and refuse one that leads elsewhere."""
    pure = PurePosixPath(relative)
    if pure.is_absolute() or ".." in pure.parts:
        raise OnwardError(
            f"expected a path inside {folder}, found {relative!r}. This download was changed: "
            "fetch it again"
        )
    return folder / pure


def read_index(path: Path) -> dict[str, dict[str, str]]:
    """Return which file has the samples of a bucket and a class, by both of their names."""
    found = read_json(path)
    by_bucket = found.values() if isinstance(found, dict) else [None]
    for files in by_bucket:
        if not isinstance(files, dict) or not all(isinstance(f, str) for f in files.values()):
            raise OnwardError(
                f"expected {{bucket: {{class: path}}}} in {path}, found another shape. Fetch it "
                "again"
            )
    return dict(found)


def numbered(names: Mapping[str, Any] | list[str]) -> list[str]:
    """Return the names of labelled buckets, as numbers: 10 comes after 9.

    Bucket 0 is the unlabelled one for pre-training, also where a download has it.
    """
    return sorted((name for name in names if name.isdecimal() and int(name) > 0), key=int)


def _is_part(folder: Path) -> bool:
    return (folder / "class_names.txt").is_file()


def _list_old(root: Path) -> Listing:
    classes = _class_names(root)
    lists = root / _FILELISTS
    if not lists.is_dir():
        samples = list(_listed_by_folders(root, root, classes, None))
        return Listing(root, "old", classes, samples, (), {"": root})
    buckets = numbered(_folders(lists))
    indices = root / "training_folder" / "bucket_indices.json"
    if indices.is_file():
        absent = [b for b in numbered(_bucket_names(indices)) if b not in buckets]
        if absent:
            raise OnwardError(
                f"expected file lists of the buckets in {indices}, found none of {absent[0]} in "
                f"{lists}. Unpack the whole download"
            )
    metadata = _Metadata(root)
    samples = []
    for bucket in buckets:
        seen: set[str] = set()
        for path, number in _lines(lists / bucket / "all.txt"):
            if not 0 <= number < len(classes) or path in seen:
                raise OnwardError(
                    f"expected each path once, with a class from 0 to {len(classes) - 1}, in "
                    f"{lists / bucket / 'all.txt'}; found {path} {number}. Fetch it again"
                )
            seen.add(path)
            inside(root, path)
            name, label = PurePosixPath(path).stem, classes[number]
            found = metadata.of(bucket, label).get(name, {})
            samples.append(Sample(name, int(bucket), label, path, metadata=found))
    return Listing(root, "old", classes, samples, _tests(root, samples), {"": root})


def _tests(root: Path, samples: list[Sample]) -> tuple[frozenset[str], ...]:
    """Read the released splits: whatever they say, a sample is on exactly one side."""
    folder = root / _SPLITS
    names = sorted((n for n in _folders(folder) if n[6:].isdecimal()), key=lambda n: int(n[6:]))
    if names != [f"split_{number}" for number in range(len(names))]:
        raise OnwardError(
            f"expected splits numbered from 0 in {folder}, found {', '.join(names)}. Unpack the "
            "whole download"
        )
    listed = {(sample.bucket, sample.path) for sample in samples}
    buckets = list(dict.fromkeys(sample.bucket for sample in samples))
    tests = []
    for name in names:
        sides = {
            side: [
                (bucket, path)
                for bucket in buckets
                for path, _ in _lines(folder / name / str(bucket) / f"{side}.txt")
            ]
            for side in ("train", "test")
        }
        both = sides["train"] + sides["test"]
        if len(both) != len(listed) or set(both) != listed:
            raise OnwardError(
                f"expected {folder / name} to put each of {len(listed)} samples on one side, found "
                f"{len(both)} lines about {len(set(both) & listed)} of them. Fetch it again"
            )
        tests.append(frozenset(path for _, path in sides["test"]))
    return tuple(tests)


def _list_parts(root: Path, parts: Mapping[str, Path]) -> Listing:
    classes = _class_names(parts["train"])
    if _class_names(parts["test"]) != classes:
        raise OnwardError(
            f"expected the same class_names.txt in {parts['train']} and {parts['test']}, found two "
            "that differ. Do they belong to one release?"
        )
    samples: list[Sample] = []
    for name, folder in parts.items():
        has_metadata = (folder / "labeled_metadata.json").is_file()
        listing = _listed_by_metadata if has_metadata else _listed_by_folders
        samples += listing(root, folder, classes, name)
    # Training samples first inside a bucket, as the parts were read.
    samples.sort(key=lambda sample: sample.bucket)
    tests = frozenset(sample.path for sample in samples if sample.part == "test")
    return Listing(root, "new", classes, samples, (tests,), parts)


def _listed_by_metadata(
    root: Path, folder: Path, classes: tuple[str, ...], part: str | None
) -> Iterator[Sample]:
    metadata = _Metadata(folder)
    for bucket in numbered(metadata.files):
        for label in metadata.files[bucket]:
            if label not in classes:
                raise _stranger(folder, f"class {label!r} in labeled_metadata.json")
        for label in classes:
            for name, found in metadata.of(bucket, label).items():
                default = f"{IMAGES}/{bucket}/{label}/{name}.{found.get('EXT', 'jpg')}"
                path = str(found.get("IMG_PATH", default))
                whole = inside(folder, path).relative_to(root).as_posix()
                yield Sample(name, int(bucket), label, whole, part, found)


def _listed_by_folders(
    root: Path, folder: Path, classes: tuple[str, ...], part: str | None
) -> Iterator[Sample]:
    metadata = _Metadata(folder)
    for bucket in numbered(_folders(folder / IMAGES)):
        found = _folders(folder / IMAGES / bucket)
        strangers = sorted(set(found) - set(classes))
        if strangers:
            raise _stranger(folder, f"folder {strangers[0]!r} in {IMAGES}/{bucket}")
        for label in classes:
            if label not in found:
                continue
            known = metadata.of(bucket, label)
            files = (folder / IMAGES / bucket / label).iterdir()
            names = [file.name for file in files if file.suffix.lower() in SUFFIXES]
            for name in sorted(names, key=_as_number):
                stem = PurePosixPath(name).stem
                path = (folder / IMAGES / bucket / label / name).relative_to(root).as_posix()
                yield Sample(stem, int(bucket), label, path, part, known.get(stem, {}))


class _Metadata:
    """What was known about each photo, by bucket and class; nothing if there is no such file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        index = folder / "labeled_metadata.json"
        self.files = read_index(index) if index.is_file() else {}

    def of(self, bucket: str, label: str) -> dict[str, dict[str, Any]]:
        """Return the photos of one class and bucket: id -> fields."""
        relative = self.files.get(bucket, {}).get(label)
        if relative is None:
            return {}
        path = inside(self._folder, relative)
        found = read_json(path)
        if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
            raise OnwardError(
                f"expected {{id: {{field: value}}}} in {path}, found another shape. Fetch it again"
            )
        return found


def _bucket_names(path: Path) -> list[str]:
    found = read_json(path)
    if not isinstance(found, list) or not all(isinstance(name, str | int) for name in found):
        raise OnwardError(
            f"expected a list of buckets in {path}, found another shape. Fetch it again"
        )
    return [str(name) for name in found]


def _class_names(folder: Path) -> tuple[str, ...]:
    """Read the classes: the number of a line is the number of a class."""
    text = read_text(folder / "class_names.txt", "class names in")
    names = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not names or len(set(names)) < len(names):
        raise OnwardError(
            f"expected one class per line, each once, in {folder / 'class_names.txt'}; found "
            f"{len(names)} lines, {len(set(names))} of them different. Fetch it again"
        )
    return names


def _lines(path: Path) -> Iterator[tuple[str, int]]:
    text = read_text(path, "a list of samples in", "Unpack the whole download")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        # A class may have a space in its name, and so in its folder's: the number comes last.
        path_text, _, label = line.rstrip().rpartition(" ")
        if not path_text or not label.isdecimal():
            raise OnwardError(
                f"expected '<path> <class number>' in line {number} of {path}, found {line!r}"
            )
        yield path_text, int(label)


def _folders(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []


def _as_number(name: str) -> tuple[int, str]:
    stem = PurePosixPath(name).stem
    return (int(stem) if stem.isdecimal() else -1, name)


def _stranger(folder: Path, what: str) -> OnwardError:
    return OnwardError(
        f"expected the classes of {folder / 'class_names.txt'}, found {what}. Do they belong to "
        "one release?"
    )


def _not_clear(root: Path) -> OnwardError:
    layouts = (
        "class_names.txt (old layout), or train (or train_image_only) and test with a "
        "class_names.txt each (new layout)"
    )
    if not root.is_dir():
        return OnwardError(f"expected a folder with {layouts}; found no folder {root}")
    names = sorted(entry.name for entry in root.iterdir())
    found = first_few(names, most=8)
    inner = [n for n in _folders(root) if _is_part(root / n) or _is_part(root / n / "test")]
    hint = f"Did you mean {root / inner[0]}?" if inner else "Point data at the unpacked download"
    return OnwardError(f"expected {layouts} in {root}; found {found or 'nothing'}. {hint}")
