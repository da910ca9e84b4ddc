"""Short names for contents: two contents with one digest are equal to the last bit."""

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from onward.types import Column, Rows

_AT_ONCE = 4096


def digest(*values: Any) -> str:
    """Name arrays, tensors, texts, numbers and nested collections of them.

    Examples
    --------
    >>> digest([0.0], "a") == digest((0.0,), "a")
    True
    >>> digest(np.zeros(2)) == digest(-np.zeros(2))
    False
    """
    state = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(state, value)
    return state.hexdigest()


def digest_folder(folder: Path) -> str:
    """Name the files below a folder.

    An archive counts by its members: ``numpy.savez`` and ``torch.save`` write the time of day
    into theirs.
    """
    contents = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                contents[name] = {member: archive.read(member) for member in archive.namelist()}
        else:
            contents[name] = {"": path.read_bytes()}
    return digest(contents)


def digest_rows(column: Column, rows: Rows) -> str:
    """Name these rows of a wide column, a few at a time: it may be larger than memory."""
    return digest([digest(column[rows[i : i + _AT_ONCE]]) for i in range(0, len(rows), _AT_ONCE)])


def _feed(state: Any, value: Any) -> None:
    if isinstance(value, bytes | str):
        content = value if isinstance(value, bytes) else value.encode()
        state.update(f"{type(value).__name__} {len(content)} ".encode() + content)
    elif value is None or isinstance(value, bool | int | float):
        state.update(f"{value!r} ".encode())
    elif isinstance(value, Mapping):
        state.update(f"mapping {len(value)} ".encode())
        for key, item in value.items():
            _feed(state, key)
            _feed(state, item)
    elif isinstance(value, Sequence):
        state.update(f"sequence {len(value)} ".encode())
        for item in value:
            _feed(state, item)
    else:
        array = np.asarray(value)
        if array.dtype == object:
            _feed(state, array.tolist() if array.ndim else repr(value))
            return
        state.update(f"array {array.dtype} {array.shape} ".encode())
        state.update(np.ascontiguousarray(array).data if array.size else b"")
