"""Samples that are the same, or nearly: found by hashing, never by comparing all pairs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.data.features import LUMINANCE
from onward.data.hashing import Hashes, hash_numbers, mix_in
from onward.data.near_pairs import near_pairs
from onward.types import Array, Column, Stream, Table

Progress = Callable[[int], None]

_AT_ONCE = 256
_ROWS = 1 << 14
_HASH_ROWS, _HASH_COLUMNS = 8, 9
# In grey levels of 256.
_VISIBLE = 4.0
# Numbers are near when they are equal after rounding to this share of the column's deviation.
_STEP = 0.01


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """Two hashes of each sample: equal inputs share the first, near ones the second."""

    exact: Hashes
    near: Hashes

    @property
    def different(self) -> int:
        """How many different inputs there are."""
        ordered = np.sort(self.exact)
        return int((ordered[1:] != ordered[:-1]).sum()) + min(len(ordered), 1)


def fingerprints(table: Table, progress: Progress = lambda done: None) -> Fingerprints:
    """Hash what samples are learned from.

    Images are near when their 64-bit difference hashes (the brightness of neighbouring fields of
    9 x 8, compared) differ in three bits at most, numbers when they are equal after rounding to a
    hundredth of the column's standard deviation.
    """
    exact = near = np.zeros(len(table), np.uint64)
    for name, column in table.wide.items():
        if name == "input":
            continue
        if isinstance(column, np.ndarray):
            same, alike = hash_numbers(column), _near(column)
        else:
            same, alike = _of_images(column, progress)
        exact, near = mix_in(exact, same), mix_in(near, alike)
    return Fingerprints(exact, near)


def seen_before(stream: Stream, hashes: Hashes, *, future_only: bool) -> int:
    """Count the test samples that a learner has already been trained on, to judge by a hash.

    There is one hash per row of the stream's table. With `future_only`, a period is tested only
    before it is learned: then only the training samples of earlier periods count.
    """
    distinct, codes = np.unique(hashes, return_inverse=True)
    if len(distinct) == len(hashes):
        return 0
    first_trained = np.full(len(distinct), len(stream))
    for period in reversed(stream):
        first_trained[codes[period.train.rows]] = period.index
    return sum(
        int((first_trained[codes[period.test.rows]] < latest).sum())
        for period in stream
        for latest in [period.index if future_only else len(stream)]
    )


def difference_hash(images: Array) -> Hashes:
    """Return the difference hash of images of shape (n, side, side, channels).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> image = rng.integers(0, 200, (1, 32, 32, 3)).astype(np.uint8)
    >>> bool(difference_hash(image)[0] == difference_hash(image + 20)[0])
    True
    """
    grey = images[..., :3].astype(np.float32) @ LUMINANCE
    side = images.shape[1]
    small = _averaging(_HASH_ROWS, side) @ grey @ _averaging(_HASH_COLUMNS, side).T
    # Not merely above zero: in a flat field, compression alone would decide.
    brighter = np.diff(small, axis=2) > _VISIBLE
    bits = np.packbits(brighter.reshape(len(images), -1), axis=1)
    return np.ascontiguousarray(bits).view(np.uint64)[:, 0]


def clusters(hashes: Hashes) -> Hashes:
    """Return one number per hash, the same for hashes that differ in a few bits, however many.

    Hashes that are near a third one are one with each other. No near pair is missed, see
    `onward.data.near_pairs`.

    Examples
    --------
    >>> clusters(np.array([0, 2**63 + 1, 2**40 - 1], np.uint64)).tolist()
    [0, 0, 2]
    """
    distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    label = np.arange(len(distinct))
    for ones, others in near_pairs(distinct):
        _join(label, ones, others)
    label = _roots(label)
    # Named after the earliest of them.
    names = np.full(len(distinct), len(hashes), np.int64)
    np.minimum.at(names, label, first)
    return names[label][place].astype(np.uint64)


def _join(label: Array, ones: Array, others: Array) -> None:
    """Let each root point to the lowest that it is joined with, until no pair has two."""
    while len(ones):
        one, other = _roots(label, ones), _roots(label, others)
        apart = one != other
        ones, others = one[apart], other[apart]
        np.minimum.at(label, np.maximum(ones, others), np.minimum(ones, others))


def _roots(label: Array, rows: Array | None = None) -> Array:
    """Return what rows point to in the end."""
    found = label if rows is None else label[rows]
    while True:
        further = label[found]
        if (further == found).all():
            return found
        found = further


def _averaging(fields: int, side: int) -> NDArray[np.float32]:
    """Return the matrix that averages `side` pixels into fields, cutting pixels where need be."""
    edges = np.linspace(0, side, fields + 1)
    pixels = np.arange(side)
    low = np.maximum(edges[:-1, None], pixels)
    high = np.minimum(edges[1:, None], pixels + 1)
    cover = np.maximum(high - low, 0)
    return np.asarray(cover / cover.sum(1, keepdims=True), np.float32)


def _of_images(column: Column, progress: Progress) -> tuple[Hashes, Hashes]:
    rows = np.arange(column.shape[0])
    same, alike = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        images = column[rows[part]]
        flat = np.ascontiguousarray(images).reshape(len(images), -1)
        same[part] = hash_numbers(np.pad(flat, ((0, 0), (0, -flat.shape[1] % 8))).view(np.uint64))
        alike[part] = difference_hash(images)
        progress(len(images))
    return same, clusters(alike)


def _steps(values: Array) -> Array:
    """Return the steps that numbers are rounded to, from a tenth of a million rows at most."""
    some = values[:: max(len(values) // 100_000, 1)]
    known = ~np.isnan(some)
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, some, 0).sum(0) / count
    deviation = np.sqrt((np.where(known, some - mean, 0) ** 2).sum(0) / count)
    return np.where(deviation > 0, deviation * _STEP, 1.0)


def _near(values: Array) -> Hashes:
    steps, hashes = _steps(values), np.empty(len(values), np.uint64)
    for start in range(0, len(values), _ROWS):
        rows = slice(start, start + _ROWS)
        hashes[rows] = hash_numbers(np.round(values[rows] / steps))
    return hashes
