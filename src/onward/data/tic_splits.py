"""TiC-YFCC and TiC-RedCaps: tables of paths and captions, or the tars made of them.

The layout::

    <root>/splits/{train,test}_batch_<batch>.csv      tab separated: path, caption
    <root>/[<folder>/]{train,test}_batch_<batch>__<8 digits>.tar

Batches are numbered 0 to 3 in TiC-YFCC, and are years in TiC-RedCaps.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from onward.data.listed_pairs import open_listed
from onward.data.pair_files import in_order
from onward.data.shards import open_shards
from onward.data.tic_layout import Layout, Step, Wanted
from onward.errors import OnwardError
from onward.types import Rows

YFCC = ((2004, 2008), (2009, 2010), (2011, 2012), (2013, 2014))
_REDCAPS_FROM = 2011
"""TiC-RedCaps has all posts up to the end of 2017 in its first year."""
_TABLE = re.compile(r"(train|test)_batch_(\d+)\.csv")
_TAR = re.compile(r"(train|test)_batch_(\d+)__\d{8}\.tar")
_NAME = re.compile(r"(train|test)_batch_(\d+)")


def has_splits(root: Path) -> bool:
    """Whether a folder looks like TiC-YFCC or TiC-RedCaps."""
    return bool(_tars(root) or _tables(root))


def read_splits(wanted: Wanted) -> Layout:
    """Read which samples belong to which batch: out of tars where there are any, else of tables.

    Paths in tables begin by default in ``images`` below the root, or in the root.
    """
    root, images = wanted.root, wanted.images
    tars = _tars(root)
    if tars and images is None:
        shards = open_shards(tars, root, wanted.gaps, wanted.progress)
        samples = _by_batch(tars, shards.of)
        return Layout(_called(samples), shards, _steps(samples, root))
    tables = _tables(root)
    folder = images or (root / "images" if (root / "images").is_dir() else root)
    listed = open_listed(tables, folder, wanted.gaps)
    samples = _by_batch(tables, listed.of)
    return Layout(_called(samples), listed, _steps(samples, root))


def _tars(root: Path) -> list[Path]:
    found = [*root.glob("*_batch_*__*.tar"), *root.glob("*/*_batch_*__*.tar")]
    return in_order(path for path in found if _TAR.fullmatch(path.name))


def _tables(root: Path) -> list[Path]:
    found = [*root.glob("*_batch_*.csv"), *root.glob("splits/*_batch_*.csv")]
    return in_order(path for path in found if _TABLE.fullmatch(path.name))


def _by_batch(
    paths: Iterable[Path], of: Callable[[list[int]], Rows]
) -> dict[tuple[str, int], Rows]:
    places: dict[tuple[str, int], list[int]] = {}
    for place, path in enumerate(paths):
        found = _NAME.match(path.name)
        if found:
            places.setdefault((found[1], int(found[2])), []).append(place)
    return {key: of(mine) for key, mine in places.items()}


def _called(samples: dict[tuple[str, int], Rows]) -> str:
    return "TiC-YFCC" if _numbered(samples) else "TiC-RedCaps"


def _numbered(samples: dict[tuple[str, int], Rows]) -> bool:
    return all(batch < len(YFCC) for _, batch in samples)


def _steps(samples: dict[tuple[str, int], Rows], root: Path) -> tuple[Step, ...]:
    batches = sorted({batch for _, batch in samples})
    gone = [
        f"{use}_batch_{batch}"
        for batch in batches
        for use in ("train", "test")
        if (use, batch) not in samples
    ]
    if gone:
        raise OnwardError(
            f"expected tables or tars of training and test for every batch in {root}, found none "
            f"called {', '.join(gone)}. Fetch or make them"
        )
    steps = []
    for place, batch in enumerate(batches):
        if _numbered(samples):
            first, last = YFCC[batch]
            name = f"{first}-{last}"
        elif 1970 <= batch <= 9999:
            first, last = (_REDCAPS_FROM if place == 0 and batch == 2017 else batch), batch
            name = str(batch)
        else:
            raise OnwardError(
                f"expected batches 0 to {len(YFCC) - 1}, or years, in {root}, found {batch}"
            )
        days = date(first, 1, 1), date(last, 12, 31)
        steps.append(Step(name, *days, samples["train", batch], samples["test", batch]))
    return tuple(steps)
