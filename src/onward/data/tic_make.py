"""Write dated pairs in the layouts in which TiC-CLIP's data is released."""

from pathlib import Path

import numpy as np

from onward.data.chosen_pairs import ChosenPairs
from onward.data.dated_pairs import DatedPairs
from onward.data.emoji_history import publish_drawings
from onward.data.split import held_out, uniform
from onward.data.tic_make_datacomp import write_datacomp, write_ids
from onward.data.tic_make_splits import write_redcaps, write_yfcc
from onward.errors import OnwardError, unknown
from onward.types import Holdout, Rows

SAMPLES = 160
"""Pairs of a month to learn from, at most; a quarter as many to test with."""
_TEST = Holdout(0.2)
LAYOUTS = {
    "datacomp": write_datacomp,
    "ids": write_ids,
    "yfcc": write_yfcc,
    "redcaps": write_redcaps,
}


def make_tic_shards(
    out: Path,
    pairs: DatedPairs,
    layout: str = "datacomp",
    *,
    seed: int = 0,
    samples: int = SAMPLES,
) -> int:
    """Write a folder in a released layout, and return how many pairs it has.

    The same pairs, seed and numbers give the same bytes. The folder is there whole or not at all.

    Layouts are ``datacomp``: shards by year and by month, with tests; ``ids``: lists of ids and a
    pool to join them with; ``yfcc`` and ``redcaps``: tables over a folder of images, and tars.
    Another seed takes other pairs, and tests with others. Of a month, at most so many `samples` are
    taken.
    """
    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS, "onward data make --help")
    chosen = _chosen(pairs, seed, samples)
    written = ChosenPairs(pairs, chosen, seed)
    publish_drawings(out, lambda draft: LAYOUTS[layout](written, draft))
    return sum(len(rows) for rows in chosen.values())


def _chosen(pairs: DatedPairs, seed: int, samples: int) -> dict[tuple[str, str], Rows]:
    """Return rows by month and use. A group is on one side of the split in all months."""
    months = np.char.replace(pairs.days.astype("datetime64[M]").astype(str), "-", "")
    tested = held_out(pairs.groups, _TEST, seed)
    place = uniform(np.array(pairs.ids), f"shards {seed}")
    found = {}
    for month in np.unique(months).tolist():
        for use, side, most in (("train", ~tested, samples), ("test", tested, samples // 4)):
            rows = np.flatnonzero((months == month) & side)
            rows = rows[np.argsort(place[rows], kind="stable")][: max(most, 1)]
            if not len(rows):
                raise OnwardError(
                    f"expected pairs to learn and to test with in every month, found none to "
                    f"{use} in {month}. Take months with few pairs out of the data"
                )
            found[month, use] = rows
    return found
