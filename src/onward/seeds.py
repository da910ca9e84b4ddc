"""Random numbers from a seed and what they are for."""

from enum import IntEnum

import numpy as np


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
