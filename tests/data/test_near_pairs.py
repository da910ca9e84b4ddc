"""All pairs of hashes that are near, against comparing all with all."""

import numpy as np
import pytest

from onward.data.near_duplicates import clusters
from onward.data.near_pairs import BITS, near_pairs


def hashes(kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    bits = rng.random((900, 64)) < (0.5 if kind == "uniform" else 0.15)
    if kind == "crowded":
        # As of small pictures on a white ground: many bits are the same in all.
        bits[:, :24] = False
    found = np.packbits(bits, axis=1).view(np.uint64)[:, 0]
    near = found[:300].copy()
    for _ in range(BITS):
        near ^= np.uint64(1) << rng.integers(0, 64, len(near)).astype(np.uint64)
    return np.concatenate([found, near, found[:20]])


def compared(values: np.ndarray) -> set[tuple[int, int]]:
    apart = np.bitwise_count(values[:, None] ^ values[None])
    return set(zip(*(part.tolist() for part in np.nonzero(np.triu(apart <= BITS, 1))), strict=True))


def found(values: np.ndarray, marked: np.ndarray | None = None) -> set[tuple[int, int]]:
    return {
        pair
        for ones, others in near_pairs(values, marked=marked)
        for pair in zip(ones.tolist(), others.tolist(), strict=True)
    }


@pytest.mark.parametrize("kind", ["uniform", "sparse", "crowded"])
def test_no_pair_is_missed_and_none_is_made_up(kind: str) -> None:
    values = hashes(kind)
    assert found(values) == compared(values)


@pytest.mark.parametrize("kind", ["uniform", "crowded"])
def test_only_pairs_with_a_marked_one(kind: str) -> None:
    values = hashes(kind)
    marked = np.zeros(len(values), np.bool_)
    marked[::40] = True
    wanted = {pair for pair in compared(values) if marked[list(pair)].any()}
    assert found(values, marked) == wanted


def test_clusters_are_what_pairs_connect() -> None:
    values = hashes("sparse")
    label = clusters(values)
    for one, other in compared(values):
        assert label[one] == label[other]
    # A chain of near hashes is one cluster, named after its first.
    chain = np.bitwise_xor.accumulate(np.array([1 << n for n in range(12)], np.uint64))
    assert clusters(chain).tolist() == [0] * 12


def test_none_and_one() -> None:
    assert found(np.empty(0, np.uint64)) == found(np.zeros(1, np.uint64)) == set()
    assert clusters(np.empty(0, np.uint64)).tolist() == []
