"""A dataset that Hugging Face's ``save_to_disk`` wrote, read with Arrow alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onward.data.read_files import read_json
from onward.errors import OnwardError

_SPLITS = "dataset_dict.json"
_STATE = "state.json"


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
    names = _json(folder / _SPLITS).get("splits", [])
    if not names:
        raise OnwardError(f"expected splits in {folder / _SPLITS}, found none. Save it again")
    try:
        rows = pa.concat_tables(
            [_read_split(folder / name) for name in names], promote_options="permissive"
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise OnwardError(
            f"expected splits with the same columns in {folder}, found some that do not fit "
            f"together ({str(error).splitlines()[0]})"
        ) from error
    return rows, f"Hugging Face dataset, splits {', '.join(names)} together"


def name_classes(rows: pa.Table) -> pa.Table:
    """Turn the numbers of classes into names, where the schema has them; -1 means no label."""
    features = _features(rows.schema.metadata or {})
    for place, name in enumerate(rows.column_names):
        feature = features.get(name)
        if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
            continue
        names = feature.get("names", [])
        if not pa.types.is_integer(rows.column(name).type) or not names:
            continue
        numbers = rows.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
        known = (numbers >= 0) & (numbers < len(names))
        if (numbers >= len(names)).any():
            raise OnwardError(
                f"expected class numbers below {len(names)} in column {name!r}, found "
                f"{int(np.nanmax(numbers))}; the dataset does not fit its own list of names"
            )
        index = pa.array(np.where(known, numbers, 0).astype(np.int32), mask=~known)
        rows = rows.set_column(place, name, pa.array(names, pa.string()).take(index))
    return rows


def _read_split(folder: Path) -> pa.Table:
    state = _json(folder / _STATE)
    files = [folder / entry["filename"] for entry in state.get("_data_files", [])]
    if not files:
        raise OnwardError(f"expected data files in {folder / _STATE}, found none. Save it again")
    parts = []
    for file in files:
        try:
            with pa.memory_map(str(file)) as source:
                parts.append(pa.ipc.open_stream(source).read_all())
        except (pa.ArrowInvalid, OSError) as error:
            raise OnwardError(
                f"expected an Arrow stream in {file}, found what cannot be read as that "
                f"({str(error).splitlines()[0]}). Save the dataset again"
            ) from error
    rows = pa.concat_tables(parts)
    if _features(rows.schema.metadata or {}):
        return name_classes(rows)
    # Some versions keep the features beside the data only.
    info = folder / "dataset_info.json"
    features = _json(info).get("features") if info.is_file() else None
    told = json.dumps({"info": {"features": features or {}}})
    return name_classes(rows.replace_schema_metadata({"huggingface": told}))


def _features(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    try:
        told = json.loads(metadata.get(b"huggingface", b"{}"))
    except ValueError:
        return {}
    info = told.get("info") if isinstance(told, dict) else None
    features = info.get("features") if isinstance(info, dict) else None
    return features if isinstance(features, dict) else {}


def _json(path: Path) -> dict[str, Any]:
    found = read_json(path, mend="Save the dataset again")
    return found if isinstance(found, dict) else {}
