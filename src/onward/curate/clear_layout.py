"""A labelled stream on disk, in both layouts that CLEAR was released in.

See `onward.data.clear_listing`, which reads them.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onward.curate.exported import Exported, all_metadata
from onward.curate.records import row_files
from onward.curate.written import json_of
from onward.data.split import shuffled_sides, uniform
from onward.files import make_folder, write_atomic

Layout = Literal["old", "new"]
Features = Mapping[str, NDArray[np.float32]]
"""By the name of their type, a row for each image."""

TRAIN, TEST = "train", "test"
_SPLITS = range(5)
_TEST_SHARE = 0.3


def part_of(samples: Sequence[Exported], layout: Layout) -> dict[str, str]:
    """Return for each id the folder of the dataset that it goes to; "" is the dataset's own.

    In the new layout a third of each class and bucket is for tests, as 150 stood beside 300 in the
    release; drawn by the hash of ids, so that an image stays on its side when others come.
    """
    if layout == "old":
        return {one.id: "" for one in samples}
    ids = [one.id for one in samples]
    place = dict(zip(ids, uniform(np.array(ids), "export test").tolist(), strict=True))
    sides = dict.fromkeys(ids, TRAIN)
    for _, _, here in _by_class(samples):
        drawn = sorted(here, key=lambda one: place[one.id])
        sides.update((one.id, TEST) for one in drawn[: len(drawn) // 3])
    return sides


def write_layout(
    out: Path,
    samples: Sequence[Exported],
    classes: Sequence[str],
    features: Features,
    layout: Layout,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, str]:
    """Write images, lists, metadata and features; return the path of each image, by id."""
    sides = part_of(samples, layout)
    for name in dict.fromkeys(sides.values()):
        rows = [row for row, one in enumerate(samples) if sides[one.id] == name]
        mine = [samples[row] for row in rows]
        part = out / name
        write_atomic(part / "class_names.txt", "\n".join(classes).encode())
        for one in mine:
            _copy(one, part / one.path)
            progress(1)
        index: dict[str, dict[str, str]] = {}
        for bucket, label, here in _by_class(mine):
            relative = f"labeled_metadata/{bucket}/{label}.json"
            write_atomic(part / relative, json_of({one.name: one.fields for one in here}))
            index.setdefault(str(bucket), {})[label] = relative
        write_atomic(part / "labeled_metadata.json", json_of(index))
        own = {kind: values[rows] for kind, values in features.items()}
        if layout == "old":
            _write_training_folder(part / "training_folder", mine, classes, own)
        else:
            _write_class_features(part, mine, own)
    return {one.id: str(Path(sides[one.id]) / one.path) for one in samples}


def write_all_metadata(out: Path, pool: Path, shift: int) -> int:
    """Write what is known of all images of the pool, labelled or not; return how many there are."""
    index, rows = {}, 0
    for bucket, files in groupby(row_files(pool), key=itemgetter(0)):
        parts = [path for _, path in files]
        relative = f"all_metadata/{bucket + shift}.json"
        count = 0

        def write(file: Any, parts: Sequence[Path] = parts) -> None:
            nonlocal count
            file.write(b"{")
            # One image at a time: a pool is larger than memory.
            for name, fields in all_metadata(parts):
                file.write(b"," * (count > 0) + json_of({name: fields}).strip()[1:-1])
                count += 1
            file.write(b"}\n")

        write_atomic(out / relative, write)
        index[str(bucket + shift)] = relative
        rows += count
    write_atomic(out / "all_metadata.json", json_of(index))
    return rows


def _write_training_folder(
    folder: Path, samples: Sequence[Exported], classes: Sequence[str], features: Features
) -> None:
    """Write the old layout's lists, its five splits by the released rule, and its features."""
    buckets = sorted({one.bucket for one in samples})
    write_atomic(folder / "bucket_indices.json", json_of([str(bucket) for bucket in buckets]))
    for bucket in buckets:
        rows = [row for row, one in enumerate(samples) if one.bucket == bucket]
        rows.sort(key=lambda row: classes.index(samples[row].label))
        labels = [classes.index(samples[row].label) for row in rows]
        lines = [f"{samples[r].path} {n}" for r, n in zip(rows, labels, strict=True)]
        write_atomic(folder / "filelists" / str(bucket) / "all.txt", "\n".join(lines).encode())
        for seed in _SPLITS:
            home = folder / f"testset_ratio_{_TEST_SHARE}" / f"split_{seed}" / str(bucket)
            sides = shuffled_sides(len(rows), _TEST_SHARE, seed)
            for side, places in zip((TRAIN, TEST), sides, strict=True):
                listed = "\n".join(lines[place] for place in places)
                write_atomic(home / f"{side}.txt", listed.encode())
                write_atomic(home / f"{side}_indices.json", json_of(places))
        for kind, values in features.items():
            path = folder / "features" / kind / str(bucket) / "all.pth"
            _save(path, (values[rows], labels))


def _write_class_features(part: Path, samples: Sequence[Exported], features: Features) -> None:
    row = {one.id: number for number, one in enumerate(samples)}
    for kind, values in features.items():
        index: dict[str, dict[str, str]] = {}
        for bucket, label, here in _by_class(samples):
            relative = f"features/{kind}/{bucket}/{label}.pth"
            _save(part / relative, {one.name: values[row[one.id]] for one in here})
            index.setdefault(str(bucket), {})[label] = relative
        write_atomic(part / "features" / kind / "features.json", json_of(index))


def _by_class(samples: Sequence[Exported]) -> Iterator[tuple[int, str, list[Exported]]]:
    found: dict[tuple[int, str], list[Exported]] = {}
    for one in samples:
        found.setdefault((one.bucket, one.label), []).append(one)
    yield from ((bucket, label, here) for (bucket, label), here in found.items())


def _copy(one: Exported, path: Path) -> None:
    """Copy an image as it is, unless an interrupted export has done so already.

    Each is renamed when it is whole; what makes all of them durable comes once, at the end.
    """
    content = one.place.read()
    if path.is_file() and path.stat().st_size == len(content):
        return
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}")
    draft.write_bytes(content)
    os.replace(draft, path)  # noqa: PTH105


def _save(path: Path, held: Any) -> None:
    """Write arrays as torch keeps tensors, in a tuple or by name."""
    import torch

    def tensor(value: Any) -> Any:
        # A copy: a part of a tensor is stored with all of it.
        return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value

    if isinstance(held, dict):
        whole: Any = {name: tensor(value) for name, value in held.items()}
    else:
        whole = tuple(map(tensor, held))
    write_atomic(path, lambda file: torch.save(whole, file))
