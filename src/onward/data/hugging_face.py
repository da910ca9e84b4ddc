"""A dataset that Hugging Face's ``save_to_disk`` wrote, read with Arrow alone."""

import json
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from onward.binary_files import read_arrow_stream
from onward.data.read_files import read_object
from onward.errors import OnwardError

_SPLITS = "dataset_dict.json"
_STATE = "state.json"
_SAVE = "Save the dataset again"


def is_hugging_face(folder: Path) -> bool:
    """Say whether a folder holds such a dataset, or several splits of one."""
    return (folder / _STATE).is_file() or (folder / _SPLITS).is_file()


def read_hugging_face(folder: Path) -> tuple[pa.Table, str]:
    """Read a dataset, all splits of it one after the other, and say what was read.

    Its own splits are put together: what is learned and what is tested is a matter of time here.
    Numbers of classes become their names.
    """
    if not (folder / _SPLITS).is_file():
        return _read_split(folder), "Hugging Face dataset"
    names = read_object(folder / _SPLITS, "the names of splits", _SAVE).get("splits", [])
    if not names or not _are_texts(names):
        raise OnwardError(f"expected splits in {folder / _SPLITS}, found none. Save it again")
    rows = _concatenated([_read_split(folder / name) for name in names], "splits", folder)
    return rows, f"Hugging Face dataset, splits {', '.join(names)} together"


def _concatenated(parts: list[pa.Table], what: str, folder: Path) -> pa.Table:
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise OnwardError(
            f"expected {what} with the same columns in {folder}, found some that do not fit "
            f"together ({str(error).splitlines()[0]})"
        ) from error


def name_classes(rows: pa.Table, path: Path) -> pa.Table:
    """Turn the numbers of classes into names, where the schema has them; -1 means no label.

    `path` is where the rows were read from, for messages.
    """
    features = _features(rows.schema.metadata or {})
    for place, name in enumerate(rows.column_names):
        feature = features.get(name)
        if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
            continue
        names = feature.get("names", [])
        if not pa.types.is_integer(rows.column(name).type) or not names:
            continue
        if not _are_texts(names):
            raise OnwardError(
                f"expected a list of class names for column {name!r} of {path}, found {names!r}. "
                f"{_SAVE}"
            )
        numbers = rows.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
        known = (numbers >= 0) & (numbers < len(names))
        if (numbers >= len(names)).any():
            raise OnwardError(
                f"expected class numbers below {len(names)} in column {name!r}, found "
                f"{int(np.nanmax(numbers))} in {path}; the dataset does not fit its own list of "
                "names"
            )
        index = pa.array(np.where(known, numbers, 0).astype(np.int32), mask=~known)
        rows = rows.set_column(place, name, pa.array(names, pa.string()).take(index))
    return rows


def _read_split(folder: Path) -> pa.Table:
    state = read_object(folder / _STATE, "the state of a dataset", _SAVE)
    entries = state.get("_data_files") or []
    try:
        files = [folder / entry["filename"] for entry in entries]
    except (KeyError, TypeError) as error:
        raise OnwardError(
            f"expected the names of data files in {folder / _STATE}, found something else "
            f"({error!r}). {_SAVE}"
        ) from error
    if not files:
        raise OnwardError(f"expected data files in {folder / _STATE}, found none. Save it again")
    parts = [read_arrow_stream(file, _SAVE) for file in files]
    rows = _concatenated(parts, "data files", folder)
    if _features(rows.schema.metadata or {}):
        return name_classes(rows, folder)
    # Some versions keep the features beside the data only.
    info = folder / "dataset_info.json"
    features = read_object(info, "a description", _SAVE).get("features") if info.is_file() else None
    told = json.dumps({"info": {"features": features or {}}})
    return name_classes(rows.replace_schema_metadata({"huggingface": told}), folder)


def _are_texts(names: object) -> TypeGuard[list[str]]:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _features(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    try:
        told = json.loads(metadata.get(b"huggingface", b"{}"))
    except (ValueError, RecursionError):
        return {}
    info = told.get("info") if isinstance(told, dict) else None
    features = info.get("features") if isinstance(info, dict) else None
    return features if isinstance(features, dict) else {}
