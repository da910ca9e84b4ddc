"""Arrays that take a while to compute, kept on disk under a hash of what they came from."""

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from onward.files import write_atomic
from onward.types import Array


def cache_folder() -> Path:
    """Return where cached arrays lie: ``$ONWARD_CACHE``, or the user's cache folder."""
    chosen = os.environ.get("ONWARD_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onward"


def cached(key: str, compute: Callable[[], Array]) -> Array:
    """Return the array stored under this key, computing and storing it if there is none.

    The key names the content completely: what it was computed from, and how. If the stored file is
    not what was stored, it is computed again.
    """
    found = from_cache(key)
    return to_cache(key, compute()) if found is None else found


def from_cache(key: str) -> Array | None:
    """Return the array stored under this key; None if there is none, or another than was stored."""
    path, seal = _files(key)
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() == seal.read_text():
            return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except OSError:
        pass
    return None


def to_cache(key: str, array: Array) -> Array:
    """Store an array under a key, and return it."""
    path, seal = _files(key)
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=False)
    try:
        write_atomic(path, sink.getvalue())
        write_atomic(seal, hashlib.sha256(sink.getvalue()).hexdigest().encode())
    except OSError:
        # A cache that cannot be written only costs time: a read-only home is no reason to stop.
        return array
    return array


def _files(key: str) -> tuple[Path, Path]:
    """Return where an array lies, and its hash."""
    return cache_folder() / f"{key}.npy", cache_folder() / f"{key}.sha256"
