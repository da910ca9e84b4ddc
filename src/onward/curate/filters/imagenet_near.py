"""The step that keeps images near wanted ones: DataComp's image-based filter."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from onward.curate.filters.step import Alive, Given, Step, need_given
from onward.curate.nearest import require_width
from onward.curate.stage import open_stage
from onward.curate.store import Store, as_store
from onward.errors import OnwardError
from onward.types import Array

_ROUNDS, _SAMPLE, _BLOCK = 12, 256, 4096
_EACH = 100
_MOST_APART = 2000


@dataclass
class ImagenetNear(Step):
    """Images in clusters that wanted ones, such as ImageNet's, are in.

    What is left of the pool is cut into `k` clusters; a cluster stays if at least one of the given
    directions is nearest to its centre. By default there is a cluster for a hundred images.
    """

    name: ClassVar[str] = "imagenet_near"
    learns: ClassVar[bool] = True
    k: int = 0
    seed: int = 0
    _images: Any = field(default=None, init=False, repr=False)
    _wanted: Any = field(default=None, init=False, repr=False)
    _centres: Any = field(default=None, init=False, repr=False)
    _hit: Any = field(default=None, init=False, repr=False)
    _lost: int = field(default=0, init=False, repr=False)

    def prepare(self, given: Given) -> None:
        """Open the store and the reference, and see that they are of one width."""
        store = need_given(given.store, "--store DIR", "a store of onward curate embed", self.name)
        reference = need_given(
            given.reference, "--reference FILE", "directions of wanted images", self.name
        )
        open_stage(store, "embed")
        self._images, self._wanted = Store.open(store), as_store(reference)
        require_width(self._wanted.width, self._images.width)

    def learn(self, alive: Alive) -> None:
        """Find the clusters of what is left, and which of them are wanted."""
        rng = np.random.default_rng(self.seed)
        held, count = [], 0
        for _, rows in alive():
            vectors, there = self._images.of(rows["id"].to_arrow())
            held.append(vectors[there].astype(np.float16))
            count += int(there.sum())
            self._lost += int((~there).sum())
        clusters = self.k or max(count // _EACH, 1)
        if clusters > count:
            raise OnwardError(
                f"expected at least {clusters:,} images for as many clusters, found {count:,} in "
                f"the store. Say {self.name}:k={max(count // _EACH, 1)}"
            )
        every = np.concatenate(held)
        sample = rng.permutation(count)[: clusters * _SAMPLE]
        self._centres = centres(every[np.sort(sample)].astype(np.float32), clusters, rng)
        wanted = self._wanted.take(np.arange(len(self._wanted))).astype(np.float32)
        self._hit = np.zeros(clusters, bool)
        self._hit[nearest(wanted, self._centres)] = True

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """See in which cluster each image is."""
        vectors, there = self._images.of(rows["id"].to_arrow())
        return pl.Series(there & self._hit[nearest(vectors, self._centres)])

    def notes(self) -> dict[str, Any]:
        """Count clusters, and those that are wanted."""
        found = {"clusters": len(self._hit), "clusters kept": int(self._hit.sum())}
        return found | ({"not in the store": self._lost} if self._lost else {})


def centres(vectors: Array, count: int, rng: np.random.Generator) -> Array:
    """Return centres of clusters of directions, each of length one.

    Examples
    --------
    >>> apart = np.repeat(np.eye(3, dtype=np.float32), 5, 0)
    >>> found = centres(apart, 3, np.random.default_rng(0))
    >>> sorted(found.argmax(1).tolist())
    [0, 1, 2]
    """
    # The first is any, and each further one is the farthest from those that there are; of very
    # many all are any.
    begun = 1 if count <= _MOST_APART else count
    found = vectors[np.sort(rng.choice(len(vectors), begun, replace=False))]
    near = (vectors @ found[:1].T)[:, 0]
    while len(found) < count:
        found = np.concatenate([found, vectors[[int(near.argmin())]]])
        near = np.maximum(near, vectors @ found[-1])
    for _ in range(_ROUNDS):
        owner = nearest(vectors, found)
        sums = np.zeros_like(found)
        np.add.at(sums, owner, vectors)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        moved = np.where(length > 0, sums / np.where(length > 0, length, 1), found)
        if np.array_equal(moved, found):
            break
        found = moved
    return np.asarray(found)


def nearest(vectors: Array, found: Array) -> Array:
    """Return the centre that is nearest to each direction."""
    parts = [
        (vectors[at : at + _BLOCK] @ found.T).argmax(1) for at in range(0, len(vectors), _BLOCK)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])
