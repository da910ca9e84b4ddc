"""A learner's state on disk: arrays in safetensors, the rest in JSON, no pickle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from onward.errors import DamagedFolderError, OnwardError

_ARRAY = "__array__"


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write nested dictionaries of arrays, numbers, texts and lists.

    They go into ``state.json`` and ``arrays.safetensors``.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, np.ndarray):
            # Not ascontiguousarray: it makes a number of no dimension one of one.
            arrays[path] = np.asarray(value, order="C")
            return {_ARRAY: path}
        if isinstance(value, dict):
            return {key: plain(item, f"{path}/{key}") for key, item in value.items()}
        if value is None or isinstance(value, bool | int | float | str | list):
            return value
        raise OnwardError(
            f"expected arrays, numbers, texts, lists of those or dictionaries in a learner's "
            f"state, found {type(value).__name__} at {path or '/'}"
        )

    text = json.dumps(plain(state, ""), indent=1)
    # Not safetensors' own writer: it reports a full disk as an error of another kind.
    (folder / "arrays.safetensors").write_bytes(save(arrays))
    (folder / "state.json").write_text(text)


def load_state(folder: Path) -> dict[str, Any]:
    """Read what `save_state` wrote."""
    try:
        arrays = load_file(folder / "arrays.safetensors")
        state: dict[str, Any] = json.loads((folder / "state.json").read_text())
    except (OSError, ValueError, RecursionError, SafetensorError) as error:
        raise DamagedFolderError(
            f"the learner's state in {folder} cannot be read: {error}"
        ) from error

    def rich(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {_ARRAY}:
                return arrays[value[_ARRAY]]
            return {key: rich(item) for key, item in value.items()}
        return value

    result: dict[str, Any] = rich(state)
    return result
