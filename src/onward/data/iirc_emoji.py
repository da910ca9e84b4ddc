"""Emoji as IIRC has its classes: category first (food), then subcategory (fruit, drink)."""

import hashlib
import json
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.data.emoji_history import drawings_of, load_emoji
from onward.data.iirc_hierarchy import Hierarchy
from onward.data.iirc_official import FOLDER
from onward.data.images import ImageColumn
from onward.data.split import uniform
from onward.errors import unknown
from onward.types import Array, Rows, Table

LEAST_IDENTITIES = 12
_TEST_SHARE = 0.3
_MOST = {"train": 100, "test": 40}


@cache
def subgroups(which: str) -> tuple[str, ...]:
    """Return subgroups of emoji, by name: those of the benchmark, or all that are large enough.

    Those that are ``chosen`` a probe can tell apart, see ``tools/choose_iirc_emoji.py``; ``all``
    have at least twelve identities.
    """
    if which not in ("chosen", "all"):
        raise unknown(
            "subgroups of emoji", which, ["chosen", "all"], "docs/benchmarks/iirc_guide.md"
        )
    if which == "chosen":
        chosen: dict[str, Any] = json.loads((FOLDER / "emoji_subgroups.json").read_text())
        return tuple(sorted(chosen["recall"]))
    rows = distinct_drawings()
    table = load_emoji()
    pairs = np.unique(
        np.stack([table.values(name)[rows].astype(str) for name in ("subgroup", "group")]), axis=1
    )
    names, identities = np.unique(pairs[0], return_counts=True)
    return tuple(names[identities >= LEAST_IDENTITIES].tolist())


def emoji_hierarchy(which: str) -> Hierarchy:
    """Return categories with their subgroups; one that would have a single subgroup is none."""
    table = load_emoji()
    category = dict(zip(table.values("subgroup"), table.values("label"), strict=True))
    families: dict[str, list[str]] = {}
    for name in subgroups(which):
        families.setdefault(category[name], []).append(name)
    several = {name: tuple(family) for name, family in families.items() if len(family) > 1}
    alone = [name for family in families.values() if len(family) == 1 for name in family]
    return Hierarchy(several, tuple(alone))


def distinct_drawings() -> Rows:
    """Return a row of every drawing of the labelled snapshots; one that did not change is one."""
    table = load_emoji()
    labelled = np.flatnonzero(table.values("snapshot") > 0)
    _, first = np.unique(drawings_of(table).index[labelled], return_index=True)
    return np.asarray(labelled[np.sort(first)], np.int64)


def sides(groups: Array, subgroup: Array) -> NDArray[np.bool_]:
    """Say which drawings are tested: those of 30 % of the identities of each subgroup.

    An identity that is in two subgroups is on the side that it has in the first of them.
    """
    place = uniform(groups, "iirc")
    test: dict[str, bool] = {}
    for name in np.unique(subgroup):
        here = subgroup == name
        identities, first = np.unique(groups[here], return_index=True)
        ranked = identities[np.argsort(place[here][first])]
        for rank, identity in enumerate(ranked.tolist()):
            test.setdefault(identity, rank < round(_TEST_SHARE * len(ranked)))
    return np.array([test[name] for name in groups.tolist()], np.bool_)


@cache
def load_iirc_emoji(which: str) -> Table:
    """Return the drawings of the benchmark, and those of 2016, which come before all periods.

    Columns: ``id``, ``group`` (the identity), ``snapshot``, ``subclass`` (null in 2016) and
    ``test``; and the wide column ``image``. Drawings are ordered by identity, so that those of one
    identity are rarely both among the first and among the last of their subclass.
    """
    table, names = load_emoji(), subgroups(which)
    rows = distinct_drawings()
    subgroup = table.values("subgroup")[rows].astype(str)
    known = np.isin(subgroup, names)
    rows, subgroup = rows[known], subgroup[known]
    groups = table.values("group")[rows].astype(str)
    test = sides(groups, subgroup)
    order = np.lexsort([rows, uniform(groups, "iirc"), subgroup, test])
    kept = np.concatenate(
        [
            order[(subgroup[order] == name) & (test[order] == side)][: _MOST[part]]
            for side, part in ((False, "train"), (True, "test"))
            for name in names
        ]
    )
    past = np.flatnonzero(table.values("snapshot") == 0)
    every = np.concatenate([past, rows[kept]])
    codes = np.searchsorted(np.array(names), subgroup[kept])
    columns = table.columns.select(["id", "group", "snapshot"]).take(pa.array(every))
    indices = pa.array([*[None] * len(past), *codes.tolist()], pa.int16())
    columns = columns.append_column(
        "subclass", pa.DictionaryArray.from_arrays(indices, pa.array(names))
    ).append_column("test", pa.array(np.r_[np.zeros(len(past), np.bool_), test[kept]]))
    image = drawings_of(table)
    content = hashlib.sha256(table.digest.encode())
    content.update(every.tobytes() + codes.tobytes() + test[kept].tobytes())
    drawings = ImageColumn(image.store, image.index[every])
    return Table(columns, {"image": drawings}, content.hexdigest(), shown=())
