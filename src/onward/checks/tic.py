"""Read TiC-CLIP's images in full."""

from collections.abc import Callable
from typing import cast

import numpy as np

from onward.data.gaps import Flaw
from onward.data.pair_column import PairColumn
from onward.data.tic_folder import TicData
from onward.errors import OnwardError
from onward.types import Rows


def check_tic(data: TicData, progress: Callable[[int], None] = lambda done: None) -> list[Flaw]:
    """Return the samples whose image cannot be decoded: each is read once."""
    flaws, pairs = [], cast(PairColumn, data.table.wide["pair"])
    for row in _with_images(data):
        try:
            pairs[np.array([row])]
        except OnwardError as error:
            sample = pairs.sample[[row]]
            [name] = pairs.files.ids(sample).to_pylist()
            flaws.append(Flaw(name, pairs.files.where(int(sample[0])), str(error)))
        progress(1)
    return flaws


def tic_images(data: TicData) -> int:
    """Return how many images `check_tic` reads."""
    return len(_with_images(data))


def _with_images(data: TicData) -> Rows:
    """Return the rows that have an image; texts alone were read when tests were made of them."""
    return np.flatnonzero(np.isin(data.table.values("kind"), ("pair", "image")))
