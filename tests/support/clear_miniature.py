"""Official CLEAR downloads in miniature, written from the emoji history in each released layout.

They hold the traps of the real ones: buckets and ids past 9, a labelled-looking bucket 0, a class
that is missing in a bucket, a class with a space in its name, times that are texts.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from onward.data.emoji_history import load_emoji
from onward.data.features import hog_colour
from onward.types import Array

# Names as they stand in class_names.txt: not sorted, and one with a space.
CLASSES = {"travel": "travel", "food and drink": "food", "animals": "animals", "flags": "flags"}
BUCKETS = range(1, 12)
GAP = (3, "flags")
_FIRST_UPLOAD = 1_176_076_800  # 2007-04-09
_BUCKET_SECONDS = 20_000_000


@dataclass(frozen=True)
class Photo:
    """One sample to write."""

    name: str
    bucket: int
    label: str
    pixels: Array

    @property
    def file(self) -> str:
        """Its path, in both layouts."""
        suffix = "png" if int(self.name) % 2 else "jpg"
        return f"labeled_images/{self.bucket}/{self.label}/{self.name}.{suffix}"

    @property
    def fields(self) -> dict[str, Any]:
        """Its metadata."""
        number = int(self.name)
        uploaded = _FIRST_UPLOAD + (self.bucket - 1) * _BUCKET_SECONDS + number
        return {
            "ID": self.name,
            "IMG_DIR": str(Path(self.file).parent),
            "IMG_PATH": self.file,
            "EXT": Path(self.file).suffix[1:],
            "DATE_TAKEN": "2007-01-01 12:00:00.0",
            "DATE_UPLOADED": str(uploaded) if self.label == "travel" else uploaded,
            "USER_ID": f"{number % 5}@N00",
            "LON": number / 10 if number % 3 else None,
            "USER_TAGS": ["never", "a", "column"],
        }

    @property
    def feature(self) -> Array:
        """Where its colours are: 48 numbers."""
        return hog_colour(self.pixels[None])[0, -48:]


def write_old(
    root: Path,
    *,
    per_class: int = 6,
    splits: int = 5,
    features: Sequence[str] = ("moco_b0", "imagenet"),
    metadata: bool = True,
    images: bool = True,
) -> Path:
    """Write the layout of clear10_neurips2021 and clear100_cvpr2022."""
    photos = list(_photos(per_class))
    names = list(CLASSES)
    _write_part(root, photos, metadata=metadata, images=images)
    training = root / "training_folder"
    _write(training / "bucket_indices.json", json.dumps([str(b) for b in (0, *BUCKETS)]))
    for bucket in (0, *BUCKETS):
        here = [photo for photo in photos if photo.bucket == bucket]
        # A list's own order, which is no sorted one: features and splits refer to it.
        random.Random(bucket).shuffle(here)
        lines = [f"{photo.file} {names.index(photo.label)}" for photo in here]
        _write(training / "filelists" / str(bucket) / "all.txt", "\n".join(lines))
        for split in range(splits):
            folder = training / "testset_ratio_0.3" / f"split_{split}" / str(bucket)
            order = list(range(len(here)))
            # Not the rule's own seeds, so that a loader that draws anew is found out.
            random.Random(100 + split).shuffle(order)
            cut = len(here) - int(0.3 * len(here))
            for side, places in (("train", order[:cut]), ("test", order[cut:])):
                _write(folder / f"{side}.txt", "\n".join(lines[place] for place in places))
                _write(folder / f"{side}_indices.json", json.dumps(places))
        for kind in features:
            path = training / "features" / kind / str(bucket) / "all.pth"
            path.parent.mkdir(parents=True)
            matrix = torch.from_numpy(np.stack([photo.feature for photo in here]))
            torch.save((matrix, [names.index(photo.label) for photo in here]), path)
    return root


def write_new(
    root: Path,
    *,
    per_class: int = 6,
    features: Sequence[str] = ("moco_b0",),
    image_only: bool = False,
) -> Path:
    """Write the layout of clear10 and clear100: a train and a test folder.

    Image-only archives are without metadata and features, and their train folder has another name.
    """
    photos = list(_photos(per_class))
    for part in ("train", "test"):
        # Every third sample of a class is tested.
        mine = [p for place, p in enumerate(photos) if (place % 3 == 0) == (part == "test")]
        folder = root / ("train_image_only" if image_only and part == "train" else part)
        _write_part(folder, mine, metadata=not image_only, images=True)
        for kind in () if image_only else features:
            _write_class_features(folder, mine, kind)
    return root


def _write_part(root: Path, photos: Sequence[Photo], *, metadata: bool, images: bool) -> None:
    _write(root / "class_names.txt", "\n".join(CLASSES))
    if images:
        for photo in photos:
            path = root / photo.file
            path.parent.mkdir(parents=True, exist_ok=True)
            drawing = Image.fromarray(photo.pixels)
            white = Image.new("RGBA", drawing.size, "white")
            Image.alpha_composite(white, drawing).convert("RGB").save(path)
    if metadata:
        index: dict[str, dict[str, str]] = {}
        for (bucket, label), mine in _by_class(photos).items():
            relative = f"labeled_metadata/{bucket}/{label}.json"
            _write(root / relative, json.dumps({p.name: p.fields for p in mine}))
            index.setdefault(str(bucket), {})[label] = relative
        _write(root / "labeled_metadata.json", json.dumps(index))


def _write_class_features(root: Path, photos: Sequence[Photo], kind: str) -> None:
    index: dict[str, dict[str, str]] = {}
    for (bucket, label), mine in _by_class(photos).items():
        relative = f"features/{kind}/{bucket}/{label}.pth"
        (root / relative).parent.mkdir(parents=True, exist_ok=True)
        # The other way round than the metadata: vectors are found by id alone.
        vectors = {p.name: torch.from_numpy(p.feature) for p in reversed(mine)}
        torch.save(vectors, root / relative)
        index.setdefault(str(bucket), {})[label] = relative
    _write(root / "features" / kind / "features.json", json.dumps(index))


def _by_class(photos: Sequence[Photo]) -> Mapping[tuple[int, str], list[Photo]]:
    found: dict[tuple[int, str], list[Photo]] = {}
    for photo in photos:
        found.setdefault((photo.bucket, photo.label), []).append(photo)
    return found


def _photos(per_class: int) -> Iterator[Photo]:
    table = load_emoji()
    snapshot, group = table.values("snapshot"), table.values("label")
    number = 7
    # Written from the last bucket to the first: nothing may rest on the order of a folder.
    for bucket in (*reversed(BUCKETS), 0):
        for label, emoji in CLASSES.items():
            if (bucket, label) == GAP:
                continue
            rows = np.flatnonzero((snapshot == bucket % 8) & (group == emoji))
            for pixels in table.wide["image"][rows[bucket * 2 :][:per_class]]:
                yield Photo(str(number), bucket, label, pixels)
                number += 1


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
