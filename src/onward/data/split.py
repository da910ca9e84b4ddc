"""Keep samples apart: by groups, in all periods alike, or as a released benchmark does."""

import hashlib
import random

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.data.hashing import hash_texts, mix_in
from onward.errors import OnwardError
from onward.types import Array, Folds, Holdout, Split


def held_out(groups: Array, split: Split, seed: int) -> NDArray[np.bool_]:
    """Say for each sample whether its group is held out for testing.

    A group's side depends on its name and the seed alone, so that it stays where it is when the
    data grows, and nothing about later samples can influence earlier ones.

    Parameters
    ----------
    groups
        One group name per sample, or its hash, see `uniform`.
    split
        A share to hold out, or folds. Seeds 0 to k - 1 hold out each of k folds once; the next k
        seeds deal the groups anew.
    seed
        The run's seed.

    Examples
    --------
    >>> groups = np.array(["cat", "dog", "cat", "bus"])
    >>> folds = [held_out(groups, Folds(2), seed) for seed in (0, 1)]
    >>> bool(np.all(folds[0] ^ folds[1]))
    True
    >>> bool(folds[0][0] == folds[0][2])
    True
    """
    if not isinstance(split, Holdout | Folds):
        raise OnwardError(
            f"expected a split that deals groups (Holdout or Folds), found {split}; it is the "
            "benchmark's own to cut"
        )
    deal = seed // split.k if isinstance(split, Folds) else seed
    place = uniform(groups, str(deal))
    if isinstance(split, Folds):
        return np.asarray((place * split.k).astype(int) == seed % split.k, np.bool_)
    return np.asarray(place < split.share, np.bool_)


def uniform(groups: Array, draw: str) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each sample's group that looks random and never changes.

    Of groups that are hashed to unsigned 64-bit numbers, millions take a moment. Under another name
    of the draw, each has another number.
    """
    if groups.dtype == np.uint64:
        salt = np.repeat(hash_texts(pa.array([draw])), len(groups))
        # 53 bits are what a float holds exactly.
        return (mix_in(salt, groups) >> np.uint64(11)).astype(np.float64) / 2**53
    names, members = np.unique(groups.astype(str), return_inverse=True)
    return np.array([_uniform(f"{draw}:{name}") for name in names])[members]


def shuffled_out(samples: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Say which samples of a bucket CLEAR's released code holds out for testing.

    Examples
    --------
    >>> shuffled_out(5, 0.3, 0).tolist()
    [False, False, False, True, False]
    """
    test = np.zeros(samples, np.bool_)
    test[shuffled_sides(samples, share, seed)[1]] = True
    return test


def shuffled_sides(samples: int, share: float, seed: int) -> tuple[list[int], list[int]]:
    """Return the samples of a bucket that CLEAR's released code trains and tests, in its order.

    It shuffles all samples, without regard to class or group, and tests the last ones. Every
    bucket is shuffled from the same seed, so buckets of one size share one permutation.

    Samples are in the order of the release's list; the share is rounded down; the seed is that of
    Python's own generator, which the released code uses.

    Examples
    --------
    >>> shuffled_sides(5, 0.3, 0)
    ([2, 1, 0, 4], [3])
    """
    order = list(range(samples))
    random.Random(seed).shuffle(order)
    cut = samples - int(share * samples)
    return order[:cut], order[cut:]


def _uniform(text: str) -> float:
    """Map a text to a number in [0, 1) that looks random and never changes."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
