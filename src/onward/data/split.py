"""Keep groups apart: no group is on both sides of a train/test split, in any period."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from onward.types import Array, Folds, Holdout


def held_out(groups: Array, split: Holdout | Folds, seed: int) -> NDArray[np.bool_]:
    """Say for each sample whether its group is held out for testing.

    A group's side depends on its name and the seed alone, so that it stays where it is when the
    data grows, and nothing about later samples can influence earlier ones.

    Parameters
    ----------
    groups
        One group name per sample.
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
    names, members = np.unique(groups.astype(str), return_inverse=True)
    deal = seed // split.k if isinstance(split, Folds) else seed
    place = np.array([_uniform(f"{deal}:{name}") for name in names])
    if isinstance(split, Folds):
        chosen = (place * split.k).astype(int) == seed % split.k
    else:
        chosen = place < split.share
    return np.asarray(chosen[members], np.bool_)


def _uniform(text: str) -> float:
    """Map a text to a number in [0, 1) that looks random and never changes."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
