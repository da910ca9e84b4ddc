"""Features that a network reads from images, computed once and kept in the cache."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onward.data.cache import cached
from onward.data.folder_images import FolderImages, file_sizes
from onward.data.images import ImageColumn
from onward.errors import OnwardError
from onward.types import Array, Column

Embed = Callable[[Array], Array]
Watch = Callable[[int, int], None]
"""Told how many are done, of how many."""

# Images in one file of the cache: what a kill may cost, and what is in memory at once.
_SHARD = 1024


def extracted(
    column: Column, key: str, embed: Embed, watch: Watch = lambda done, of: None
) -> NDArray[np.float32]:
    """Return the features of every row.

    `key` names the network, its weights and its transform; the content of the column is added.
    `embed` turns images into features, each independently of all others. `watch` is not called at
    all where everything is in the cache.
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
    column.put_noise(features, np.arange(len(features)), embed)
    return features


def _shards(
    read: Callable[[Array], Array], images: int, key: str, embed: Embed, watch: Watch
) -> NDArray[np.float32]:
    parts = []
    for start in range(0, images, _SHARD):
        numbers = np.arange(start, min(start + _SHARD, images))

        def compute(numbers: Array = numbers) -> Array:
            watch(int(numbers[0]), images)
            return embed(read(numbers))

        parts.append(cached(f"{key}-{start}", compute))
    return np.concatenate(parts)


def _folder_digest(column: FolderImages) -> str:
    """Hash the files' names and sizes, and the side that they are decoded to.

    Not their bytes: a table's own digest does not either.
    """
    sizes = file_sizes(column.root, column.paths)
    listed = hashlib.sha256(f"{column.root.resolve()} {column.size}".encode())
    for path in column.paths:
        listed.update(f"\n{path} {sizes.get(path)}".encode())
    return listed.hexdigest()[:16]
