"""Random numbers from a seed and what they are for."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Draws(IntEnum):
    """What random numbers are drawn for: each use has numbers of its own."""

    ORDER = 1
    VIEW_SIZES = 2
    WEIGHTS = 3
    BATCHES = 4
    CLASSES = 5
    PRETRAINING = 6
    AUGMENTATION = 7
    VARIATION = 8
    HELD_OUT = 9
    STREET = 10
    DROPOUT = 11


def draws(use: Draws, *key: int) -> np.random.Generator:
    """Return the generator of one use and one key, such as a seed, a call and an epoch.

    The use stands last, and is never zero: numpy ignores zeros at the end of a key, so that
    otherwise the first epoch of the first call would share its numbers with other uses.

    Examples
    --------
    >>> one, other = (draws(Draws.BATCHES, 7, 0, epoch).integers(1000) for epoch in (0, 1))
    >>> bool(one != other)
    True
    """
    return np.random.default_rng([*key, use])


def sample_draws(
    use: Draws, key: Sequence[int], indices: NDArray[np.int64], count: int
) -> NDArray[np.uint32]:
    """Return so many random integers of 32 bits for each of some samples of a batch.

    A sample's row depends on the key and on its index in the whole batch, not on which others are
    asked for. Rows of all samples are drawn and some of them returned: numpy draws tens of rows in
    the time in which it makes one generator.

    Examples
    --------
    >>> whole = sample_draws(Draws.VARIATION, (0, 1, 2), np.arange(8), 2)
    >>> bool((whole[[5, 3]] == sample_draws(Draws.VARIATION, (0, 1, 2), np.array([5, 3]), 2)).all())
    True
    """
    rows = int(indices.max(initial=-1)) + 1
    return draws(use, *key).integers(2**32, size=(rows, count), dtype=np.uint32)[indices]
