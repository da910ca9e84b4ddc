"""Which pairs test a bucket, and which are too much like them to be learned from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.curate.pair_rows import PairRows
from onward.data.hashing import Hashes
from onward.data.near_pairs import BITS, near_pairs
from onward.data.split import uniform
from onward.table import Array

SAME_LISTED = "same address and caption as a test pair"
SAME_IMAGE = "same image as a test pair"
NEAR_IMAGE = "nearly the same image as a test pair"
SAME_WORDS = "same words as a test pair"
_DRAW = "tests {}"


@dataclass(frozen=True, eq=False)
class Looks:
    """What images look like: hashes of bytes and of light and dark, and which are whole."""

    same: Hashes
    near: Hashes
    whole: NDArray[np.bool_]

    @property
    def telling(self) -> NDArray[np.bool_]:
        """Whether an image shows enough for its hash to tell it from a blank one."""
        return self.whole & (np.bitwise_count(self.near) > BITS)


def in_drawn_order(rows: PairRows, seed: int) -> NDArray[np.float64]:
    """Return a number for each pair in whose order they are drawn; others do not move it."""
    return uniform(rows.numbers, _DRAW.format(seed))


def drawn(
    rows: PairRows,
    looks: Looks,
    candidates: Sequence[int],
    most: int,
    *,
    captions: bool,
) -> list[int]:
    """Return the first of some candidates of which none is like another.

    They are alike if their images are the same, or nearly; with `captions`, or if their words are.
    """
    found: list[int] = []
    near = np.empty(most, np.uint64)
    telling, count = looks.telling, 0
    seen: set[tuple[str, int]] = set()
    for row in candidates:
        mine = {("image", int(looks.same[row])), ("listed", int(rows.listed[row]))}
        if captions:
            mine.add(("words", int(rows.said[row])))
        if mine & seen:
            continue
        if telling[row]:
            if (np.bitwise_count(near[:count] ^ looks.near[row]) <= BITS).any():
                continue
            near[count] = looks.near[row]
            count += 1
        seen |= mine
        found.append(row)
        if len(found) == most:
            break
    return found


def too_like(
    rows: PairRows, looks: Looks, retrieval: Array, classified: Array
) -> Mapping[str, NDArray[np.bool_]]:
    """Return which pairs are like one that tests, by reason; each under the first that holds.

    Of a pair to be classified the caption is not asked for, and may be learned.
    """
    asked = np.union1d(retrieval, classified)
    left = looks.whole.copy()
    left[asked] = False
    found = {
        SAME_LISTED: np.isin(rows.listed, rows.listed[asked]),
        SAME_IMAGE: np.isin(looks.same, looks.same[asked]),
        NEAR_IMAGE: _near(looks, asked),
        SAME_WORDS: np.isin(rows.said, rows.said[retrieval]),
    }
    told = {}
    for reason, mask in found.items():
        told[reason] = mask & left
        left &= ~mask
    return told


def _near(looks: Looks, asked: Array) -> NDArray[np.bool_]:
    telling = looks.telling
    distinct, place = np.unique(looks.near, return_inverse=True)
    marked = np.zeros(len(distinct), np.bool_)
    marked[place[asked[telling[asked]]]] = True
    close = marked.copy()
    useful = np.bitwise_count(distinct) > BITS
    kept = np.flatnonzero(useful)
    for ones, others in near_pairs(distinct[kept], marked=marked[kept]):
        close[kept[others[marked[kept[ones]]]]] = True
        close[kept[ones[marked[kept[others]]]]] = True
    return np.asarray(close[place] & telling)
