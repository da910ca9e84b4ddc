"""TiC-CLIP's data looked through: its counts, and every image read in full."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from onward.data.gaps import Flaw
from onward.data.inspection import Inspection
from onward.data.pair_column import PairColumn
from onward.data.tic_counts import published_counts
from onward.data.tic_folder import TicData, read_tic
from onward.errors import OnwardError
from onward.types import Rows

_ASKED = ("calendar", "shards", "leave_out")


def inspect_tic(data: str, options: Mapping[str, Any]) -> Inspection:
    """Look through a folder; what is missing is told, and the rest is looked at all the same."""
    given = {name: value for name, value in options.items() if name in _ASKED}
    root = Path(data).expanduser()
    found = read_tic(root, side=32, **given, missing="skip", window=0)
    right = sum(count.right for count in found.counts)
    periods = f"{len(found.periods)} periods"
    told = f", {right} of {len(found.counts)} counts as it says itself" * bool(found.counts)
    return Inspection(
        layout=found.layout,
        counts=found.counts,
        shown=[count for count in found.counts if not count.right],
        agreed=f"{found.layout}: {periods}{told}",
        images=len(_with_images(found)),
        read=partial(check_tic, found),
        published=published_counts(found),
        notes=found.notes,
        problems=found.gaps,
        flaws=found.flaws,
    )


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


def _with_images(data: TicData) -> Rows:
    """Return the rows that have an image; texts alone were read when tests were made of them."""
    return np.flatnonzero(np.isin(data.table.values("kind"), ("pair", "image")))
