"""TiC-DataComp as it is released: lists of ids, joined to the shards of a CommonPool of yours.

The layout::

    <root>/[tic-datacomp_training_yearly_noeval/]<YYYY>.npy
    <root>/[tic-datacomp_training_monthly/]<YYYY>.tar            with <YYYYMM>.npy
    <root>/tic-datacomp_retrieval_evals_year2uids.json
    <root>/tic-datacompnet_year2uids.json                        with classnames.txt and
    <root>/zeroshot_classification_templates.txt                 beside it, in ImageNet's order
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onward.data.cache import cached
from onward.data.pair_files import in_order
from onward.data.prompts import CLASSNAMES, read_prompts
from onward.data.shards import Shards, open_shards, shard_paths
from onward.data.tic_layout import (
    Layout,
    Step,
    Wanted,
    is_own,
    is_time,
    layout_name,
    no_samples,
    span_of,
    step_of,
    tested,
)
from onward.data.uid_lists import (
    UID,
    class_lists,
    is_uid,
    listed_in,
    open_list,
    open_lists,
    places_in,
    uids_of,
    year_lists,
)
from onward.errors import OnwardError
from onward.types import Array, Rows

YEARLY, MONTHLY = "tic-datacomp_training_yearly_noeval", "tic-datacomp_training_monthly"
RETRIEVAL, CLASSES = "tic-datacomp_retrieval_evals_year2uids", "tic-datacompnet_year2uids"


def has_lists(root: Path) -> bool:
    """Whether a folder has lists of ids."""
    return bool(_years(root, "yearly") or _years(root, "monthly"))


def read_joined(wanted: Wanted) -> Layout:
    """Read which samples of a pool belong to which year or month."""
    root, shards = wanted.root, wanted.shards
    if shards is None:
        raise OnwardError(
            f"expected shards to join with the lists of ids in {root}, found none named. Say where "
            "your copy of CommonPool is: shards=DIR, several joined by '::'"
        )
    ids = root / f"{RETRIEVAL}.json"
    if not ids.is_file():
        twin = (root / f"{RETRIEVAL}.pkl").is_file()
        found = "its pickled twin, which is never opened" if twin else "none"
        raise OnwardError(
            f"expected the ids to test with in {ids}, found {found}. Fetch the JSON file from "
            "Hugging Face, apple/TiC-DataComp"
        )
    paths = shard_paths(shards)
    pool_shards = open_shards(paths, paths[0].parent, wanted.gaps, wanted.progress)
    calendar = wanted.calendar or ("yearly" if _years(root, "yearly") else "monthly")
    lists = _lists(root, calendar)
    uids = _uids(pool_shards)
    asked = _Asked(uids, root)
    steps = _steps(lists, asked, calendar, pool=wanted.pool, merged=not is_own(root))
    if not tested(steps)[0]:
        raise OnwardError(
            f"expected samples of {shards} in the lists of ids in {root}, found none of the "
            f"{len(uids):,} there both to learn and to test with. Are they shards of CommonPool?"
        )
    return Layout(
        f"{layout_name(root, calendar)}, ids joined to shards",
        pool_shards,
        steps,
        asked.classes,
        asked.prompts,
        notes=tuple(asked.notes),
    )


def _steps(
    lists: Mapping[str, Array], asked: "_Asked", calendar: str, *, pool: bool, merged: bool
) -> tuple[Step, ...]:
    learned: dict[str, list[Rows]] = {}
    tests: dict[str, list[Rows]] = {}
    classified: dict[str, list[tuple[Rows, Rows]]] = {}
    for time, listed in lists.items():
        name = step_of(time, calendar, merged=merged)
        # Monthly lists have the ids that are tested with, yearly ones do not.
        here = np.flatnonzero(listed_in(listed, asked.uids))
        learned.setdefault(name, []).append(here[~asked.tested[here]])
        if calendar == "monthly" or pool or time == name:
            within = here if calendar == "monthly" else None
            tests.setdefault(name, []).append(asked.retrieval(time[:4], within))
            classified.setdefault(name, []).append(asked.classes_of(time[:4], within))
    steps = []
    for name in sorted(learned):
        train, test = np.concatenate(learned[name]), np.concatenate(tests.get(name, [no_samples()]))
        mine = classified.get(name, [])
        rows = np.concatenate([rows for rows, _ in mine] or [no_samples()])
        labels = np.concatenate([labels for _, labels in mine] or [no_samples()])
        steps.append(Step(name, *span_of(name, merged=merged), train, test, rows, labels))
    return tuple(steps)


class _Asked:
    """The samples of a pool that are tested with, by year."""

    def __init__(self, uids: Array, root: Path) -> None:
        self.uids = uids
        self._retrieval = year_lists(root / f"{RETRIEVAL}.json")
        self.tested = np.zeros(len(uids), np.bool_)
        for listed in self._retrieval.values():
            self.tested |= listed_in(listed, uids)
        self._classes: Mapping[str, tuple[Array, Array, tuple[str, ...]]] = {}
        self.classes: tuple[str, ...] = ()
        self.prompts: tuple[str, ...] = ()
        self.notes: list[str] = []
        path = root / f"{CLASSES}.json"
        if not path.is_file():
            return
        self._classes = class_lists(path)
        for listed, _, _ in self._classes.values():
            self.tested |= listed_in(listed, uids)
        if not (root / CLASSNAMES).is_file():
            self.notes.append(f"no test by prompts: there is no {CLASSNAMES} beside {path.name}")
            self._classes = {}
            return
        self.classes, self.prompts = read_prompts(root)
        synsets = next(iter(self._classes.values()))[2] if self._classes else ()
        if len(synsets) != len(self.classes):
            raise OnwardError(
                f"expected as many names in {root / CLASSNAMES} as {path.name} has classes "
                f"({len(synsets)}), found {len(self.classes)}"
            )

    def retrieval(self, year: str, within: Rows | None) -> Rows:
        """Return the samples to retrieve of one year, or those among some samples."""
        return self._among(self._retrieval.get(year), within)

    def classes_of(self, year: str, within: Rows | None) -> tuple[Rows, Rows]:
        """Return the samples to classify of one year, and their classes."""
        if year not in self._classes:
            return no_samples(), no_samples()
        listed, labels, _ = self._classes[year]
        rows = self._among(listed, within)
        return rows, labels[places_in(listed, self.uids[rows])]

    def _among(self, listed: Array | None, within: Rows | None) -> Rows:
        if listed is None:
            return no_samples()
        rows = np.arange(len(self.uids)) if within is None else within
        return rows[listed_in(listed, self.uids[rows])]


def _years(root: Path, calendar: str) -> list[Path]:
    """Return the files of years: each a list, or the lists of its months in a tar."""
    form = f"{YEARLY}/*.npy" if calendar == "yearly" else f"{MONTHLY}/*.tar"
    found = in_order([*root.glob(Path(form).name), *root.glob(form)])
    return [path for path in found if is_time(path.stem, "yearly")]


def _lists(root: Path, calendar: str) -> dict[str, Array]:
    if calendar == "yearly":
        return {path.stem: open_list(path) for path in _years(root, "yearly")}
    found: dict[str, Array] = {}
    for path in _years(root, "monthly"):
        lists = open_lists(path)
        found |= {time: lists[time] for time in sorted(lists) if is_time(time, "monthly")}
    return found


def _uids(shards: Shards) -> Array:
    """Return the id of every sample: in its key, or else in its json."""
    return cached(f"uids-1-{shards.digest[:24]}", lambda: _read_uids(shards))


def _read_uids(shards: Shards) -> Array:
    found = np.empty(len(shards), UID)
    for sample, key in enumerate(shards.keys.to_pylist()):
        name = key.rpartition("/")[2].partition("-")[0]
        if not is_uid(name):
            name = _told(shards, sample)
        found[sample] = uids_of([name])[0]
    return found


def _told(shards: Shards, sample: int) -> str:
    told = shards.part(sample, "json") if shards.places["json_at"][sample] >= 0 else b""
    try:
        name = json.loads(told)["uid"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name = None
    if not is_uid(name):
        raise OnwardError(
            f"expected an id of 32 hexadecimal letters in the key or in uid of the json of "
            f"{shards.where(sample)}, found neither"
        )
    return name
