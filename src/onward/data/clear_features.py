"""The features that came with a CLEAR download, in the order of its samples."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.data.clear_listing import Listing, inside, read_index
from onward.errors import OnwardError

# Reads a file of tensors into arrays. It is handed in, since data needs no learning framework.
ReadTensors = Callable[[Path], Any]


def feature_types(listing: Listing) -> list[str]:
    """Return the types of features that every part of a download has."""
    found = [
        {entry.name for entry in _home(listing, part).glob("*") if entry.is_dir()}
        for part in listing.parts
    ]
    return sorted(set.intersection(*found))


def read_features(listing: Listing, kind: str, read_tensors: ReadTensors) -> NDArray[np.float32]:
    """Read one type of features: one row per sample of the listing, as they were released."""
    buckets: dict[int, list[int]] = {}
    for row, sample in enumerate(listing.samples):
        buckets.setdefault(sample.bucket, []).append(row)
    read = _bucket_of_old if listing.layout == "old" else _bucket_of_new
    blocks: list[NDArray[np.float32]] = []
    for bucket, rows in buckets.items():
        block = read(listing, kind, bucket, rows, read_tensors)
        if blocks and block.shape[1] != blocks[0].shape[1]:
            raise OnwardError(
                f"expected features of one width, found {blocks[0].shape[1]} in bucket "
                f"{next(iter(buckets))} and {block.shape[1]} in bucket {bucket} of {kind}. "
                "Fetch them again from the download"
            )
        blocks.append(block)
    return np.concatenate(blocks)


def _home(listing: Listing, part: str) -> Path:
    inner = "training_folder/features" if listing.layout == "old" else "features"
    return listing.parts[part] / inner


def _bucket_of_old(
    listing: Listing, kind: str, bucket: int, rows: list[int], read_tensors: ReadTensors
) -> NDArray[np.float32]:
    """Read a matrix with a row for each line of the bucket's file list, and its labels."""
    path = _home(listing, "") / kind / str(bucket) / "all.pth"
    found = read_tensors(path)
    if not (isinstance(found, list) and len(found) == 2 and _is_matrix(found[0])):
        raise OnwardError(
            f"expected a matrix of features and a list of labels in {path}, found "
            f"{_shape_of(found)}. Fetch it again from the download"
        )
    matrix, labels = found
    expected = [listing.classes.index(listing.samples[row].label) for row in rows]
    if len(matrix) != len(rows) or np.asarray(labels).tolist() != expected:
        raise OnwardError(
            f"expected a row for each of {len(rows)} samples of bucket {bucket} in {path}, with "
            f"their labels in the order of the file list; found {len(matrix)} rows with "
            f"{'other' if len(matrix) == len(rows) else len(labels)} labels. Do they belong to one "
            "release?"
        )
    return np.ascontiguousarray(matrix, np.float32)


def _bucket_of_new(
    listing: Listing, kind: str, bucket: int, rows: list[int], read_tensors: ReadTensors
) -> NDArray[np.float32]:
    """Read a file per class that names its vectors by id."""
    by_class: dict[tuple[str, str], Mapping[str, Any]] = {}
    vectors = []
    for row in rows:
        sample = listing.samples[row]
        key = (sample.part or "", sample.label)
        if key not in by_class:
            by_class[key] = _class_vectors(listing, kind, bucket, *key, read_tensors)
        vector = by_class[key].get(sample.id)
        if vector is None:
            raise OnwardError(
                f"expected {kind} features of every sample, found none of {sample.path}. Fetch "
                "them again from the download"
            )
        vectors.append(np.asarray(vector, np.float32).reshape(-1))
    widths = sorted({len(vector) for vector in vectors})
    if len(widths) > 1:
        raise OnwardError(
            f"expected features of one width, found {widths[0]} and {widths[-1]} in bucket "
            f"{bucket} of {kind}. Fetch them again from the download"
        )
    return np.stack(vectors)


def _class_vectors(
    listing: Listing, kind: str, bucket: int, part: str, label: str, read_tensors: ReadTensors
) -> Mapping[str, Any]:
    index = _home(listing, part) / kind / "features.json"
    relative = read_index(index).get(str(bucket), {}).get(label)
    if relative is None:
        raise OnwardError(
            f"expected features of class {label} in bucket {bucket} in {index}, found none. Fetch "
            "them again from the download"
        )
    path = inside(listing.parts[part], relative)
    found = read_tensors(path)
    if not isinstance(found, dict) or not all(isinstance(v, np.ndarray) for v in found.values()):
        raise OnwardError(
            f"expected a tensor for each id in {path}, found {_shape_of(found)}. Fetch it again "
            "from the download"
        )
    return {str(name): vector for name, vector in found.items()}


def _is_matrix(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2


def _shape_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"one tensor of shape {value.shape}"
    if isinstance(value, list):
        return f"a list of {len(value)} ({', '.join(type(v).__name__ for v in value[:3])})"
    return f"a {type(value).__name__}"
