"""Features that a network reads from images, computed once and kept in the cache."""

import contextlib
import hashlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onward.data.cache import from_cache, to_cache
from onward.data.folder_images import FolderImages, file_sizes
from onward.data.images import ImageColumn
from onward.errors import OnwardError
from onward.types import Array, Column, Rows

Read = Callable[[Rows], Array]
"""Returns images by their numbers."""
Embed = Callable[[Read, Sequence[Rows]], Generator[Array, None, None]]
"""Yields the features of each part of some images, each image independently of all others."""
Watch = Callable[[int, int], None]
"""Called with how many images are done, and of how many."""

# Images in one file of the cache: what a kill may cost, and what is in memory at once.
_SHARD = 1024


def extracted(
    column: Column, key: str, embed: Embed, watch: Watch = lambda done, of: None
) -> NDArray[np.float32]:
    """Return the features of every row.

    Parameters
    ----------
    column
        The images.
    key
        Names the network, its weights and its transform; the content of the column is added.
    embed
        Reads images and computes their features.
    watch
        Called before each part that is not in the cache.
    """
    if isinstance(column, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(column).data).hexdigest()[:16]
        return _shards(column.__getitem__, len(column), f"{key}-{digest}", embed, watch)
    if isinstance(column, ImageColumn):
        store = column.store
        distinct = _shards(store.decode, len(store), f"{key}-{store.digest[:16]}", embed, watch)
        features = distinct[column.index]
    elif isinstance(column, FolderImages):
        real, content = replace(column, noise=None), f"{key}-{_folder_digest(column)}"
        features = _shards(real.__getitem__, len(real.paths), content, embed, watch)
    else:
        raise OnwardError(
            f"expected images in a store, a folder or an array, found {type(column).__name__}"
        )
    column.put_noise(features, np.arange(len(features)), partial(_of_array, embed=embed))
    return features


def _of_array(images: Array, embed: Embed) -> Array:
    return np.concatenate(list(embed(images.__getitem__, [np.arange(len(images))])))


def _shards(read: Read, images: int, key: str, embed: Embed, watch: Watch) -> NDArray[np.float32]:
    starts = range(0, images, _SHARD)
    found = {start: from_cache(f"{key}-{start}") for start in starts}
    missing = [start for start in starts if found[start] is None]
    parts = [np.arange(start, min(start + _SHARD, images)) for start in missing]
    with contextlib.closing(embed(read, parts)) as computed:
        for start in missing:
            watch(start, images)
            found[start] = to_cache(f"{key}-{start}", next(computed))
    return np.concatenate([features for features in found.values() if features is not None])


def _folder_digest(column: FolderImages) -> str:
    """Hash the files' names and sizes, and the side that they are decoded to.

    Not their bytes: a table's own digest does not either.
    """
    sizes = file_sizes(column.root, column.paths)
    listed = hashlib.sha256(f"{column.root.resolve()} {column.size}".encode())
    for path in column.paths:
        listed.update(f"\n{path} {sizes.get(path)}".encode())
    return listed.hexdigest()[:16]
