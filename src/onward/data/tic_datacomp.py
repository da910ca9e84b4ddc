"""TiC-DataComp as shards: a folder for each year or month, to learn from and to test with.

The layout::

    <root>/<yearly|monthly>/train/<YYYY|YYYYMM>/<8 digits>.tar
    <root>/<yearly|monthly>/train/<YYYY|YYYYMM>/{sizes.json, meta.json, <8 digits>_stats.json}
    <root>/<yearly|monthly>/eval/{retrieval,datacompnet}/<YYYY|YYYYMM>/<number>.tar
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onward.data.counts import Count
from onward.data.pair_files import in_order
from onward.data.prompts import CLASSNAMES, read_prompts
from onward.data.read_files import read_object, read_text
from onward.data.shards import Shards, open_shards
from onward.data.tic_layout import (
    Layout,
    Step,
    Wanted,
    different,
    is_own,
    is_time,
    layout_name,
    no_samples,
    span_of,
    step_of,
)
from onward.errors import OnwardError
from onward.types import Rows

CALENDARS = ("yearly", "monthly")
_RETRIEVAL, _CLASSES = "retrieval", "datacompnet"
_KINDS = {_RETRIEVAL: "retrieval", _CLASSES: "classification"}
_CLASS = re.compile(rb"\s*\d{1,9}\s*")


@dataclass(frozen=True)
class _Folder:
    """A folder of shards: for which time, what for, and how many samples it says it has."""

    time: str
    use: str
    path: Path
    shards: tuple[Path, ...]
    said: tuple[tuple[str, str, int], ...]
    """Source, the name of a shard or "" for all of them, and the number."""

    @property
    def absent(self) -> list[str]:
        """Which shards are named and not there."""
        there = {shard.name for shard in self.shards}
        return [
            f"{source} names {name} with {count:,} samples, which is not there"
            for source, name, count in self.said
            if name and name not in there
        ]


def has_datacomp(root: Path) -> bool:
    """Whether a folder looks like TiC-DataComp's shards."""
    return any((root / calendar / "train").is_dir() for calendar in CALENDARS)


def read_datacomp(wanted: Wanted) -> Layout:
    """Read which samples belong to which year or month."""
    root, gaps = wanted.root, wanted.gaps
    there = [name for name in CALENDARS if (root / name / "train").is_dir()]
    calendar = wanted.calendar or there[0]
    base = root / calendar
    if calendar not in there:
        raise OnwardError(f"expected shards in {base / 'train'}, found {' and '.join(there)} alone")
    notes: list[str] = []
    folders = _folders(base / "train", "train", calendar)
    for use in _KINDS:
        if (base / "eval" / use).is_dir():
            folders += _folders(base / "eval" / use, use, calendar)
    gaps.go_on([line for folder in folders for line in folder.absent], "all shards that are named")
    paths = [path for folder in folders for path in folder.shards]
    shards = open_shards(paths, root, gaps, wanted.progress)
    counts = _counts(folders, shards)
    gaps.go_on(different(counts), "as many samples as the data says it has")
    merged = not is_own(root)
    samples = _samples(folders, shards, calendar, pool=wanted.pool, merged=merged)
    classes, prompts = _prompts(folders)
    steps = []
    for name in sorted({step for step, use in samples if use == "train"}):
        test = samples.get((name, _RETRIEVAL))
        if test is None:
            notes.append(f"{name} is left out: it has no test in {base / 'eval' / _RETRIEVAL}")
            continue
        classified = samples.get((name, _CLASSES), no_samples())
        labels = _labels(shards, classified, len(classes))
        learned = samples[name, "train"]
        steps.append(Step(name, *span_of(name, merged=merged), learned, test, classified, labels))
    if not steps:
        raise OnwardError(
            f"expected tests of the same times as in {base / 'train'} in "
            f"{base / 'eval' / _RETRIEVAL}/<time>/<number>.tar, found none"
        )
    name = layout_name(root, calendar)
    return Layout(name, shards, tuple(steps), classes, prompts, counts, tuple(notes))


def _folders(base: Path, use: str, calendar: str) -> list[_Folder]:
    found = []
    for path in in_order(base.iterdir()):
        if not path.is_dir() or not is_time(path.name, calendar):
            continue
        # CLIP_benchmark's own folders have one more level.
        place = path / "test" if (path / "test").is_dir() else path
        shards = tuple(in_order(place.glob("*.tar")))
        said = _said_of_training(place) if use == "train" else _said_of_test(place, use)
        found.append(_Folder(path.name, use, place, shards, tuple(said)))
    return found


def _said_of_training(folder: Path) -> list[tuple[str, str, int]]:
    said: list[tuple[str, str, int]] = []
    sizes = folder / "sizes.json"
    if sizes.is_file():
        for name, count in read_object(sizes, "sizes of shards").items():
            said.append((str(sizes), name, _whole(count, sizes)))
    meta = folder / "meta.json"
    if meta.is_file():
        count = read_object(meta, "a description of shards").get("output_count")
        if count is not None:
            said.append((str(meta), "", _whole(count, meta)))
    for path in in_order(folder.glob("*_stats.json")):
        count = read_object(path, "statistics of a shard").get("successes")
        if count is not None:
            name = path.name.removesuffix("_stats.json") + ".tar"
            said.append((str(path), name, _whole(count, path)))
    return said


def _said_of_test(folder: Path, use: str) -> list[tuple[str, str, int]]:
    kind = folder / "dataset_type.txt"
    found_kind = _stripped(kind, "a kind of test in") if kind.is_file() else _KINDS[use]
    if found_kind != _KINDS[use]:
        raise OnwardError(
            f"expected {_KINDS[use]} in {kind}, found {found_kind!r}. Put the folder where tests "
            "of its kind are"
        )
    said: list[tuple[str, str, int]] = []
    shards, count = folder / "nshards.txt", folder / "count.txt"
    if shards.is_file():
        # Which of them should be there follows from the number: 0.tar, 1.tar and so on.
        number = _whole(_stripped(shards, "a number of shards in"), shards, "shards")
        found = len(list(folder.glob("*.tar")))
        if found != number:
            raise OnwardError(
                f"expected {number} shards in {folder}, as nshards.txt says, found {found}. Fetch "
                "the others"
            )
    if count.is_file():
        said.append((str(count), "", _whole(_stripped(count, "a number of samples in"), count)))
    return said


def _stripped(path: Path, expected: str) -> str:
    return read_text(path, expected).strip()


def _whole(value: object, path: Path, what: str = "samples") -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise OnwardError(f"expected a number of {what} in {path}, found {value!r}") from error


def _counts(folders: list[_Folder], shards: Shards) -> tuple[Count, ...]:
    number = {path: place for place, path in enumerate(shards.paths)}
    counts = []
    for folder in folders:
        found = {path.name: int(shards.found[number[path]]) for path in folder.shards}
        for source, name, said in folder.said:
            if not name and min(found.values(), default=0) >= 0:
                counts.append(Count(source, "samples in all", said, sum(found.values())))
            elif found.get(name, -1) >= 0:
                counts.append(Count(source, f"samples in {name}", said, found[name]))
    return tuple(counts)


def _samples(
    folders: list[_Folder], shards: Shards, calendar: str, *, pool: bool, merged: bool
) -> dict[tuple[str, str], Rows]:
    """Return samples by the name of a period and their use."""
    number = {path: place for place, path in enumerate(shards.paths)}
    found: dict[tuple[str, str], list[Rows]] = {}
    for folder in folders:
        name = step_of(folder.time, calendar, merged=merged)
        # Tests of the years that the first period is merged from are a choice, see `pool`.
        if folder.use == "train" or pool or folder.time == name:
            mine = shards.of([number[path] for path in folder.shards])
            found.setdefault((name, folder.use), []).append(mine)
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _prompts(folders: list[_Folder]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the classes and their prompts, which all years have alike."""
    mine = [folder for folder in folders if folder.use == _CLASSES]
    found = [(folder.path, read_prompts(_told_in(folder.path))) for folder in mine]
    for path, (names, prompts) in found:
        if (names, prompts) != found[0][1]:
            raise OnwardError(
                f"expected the same classes and templates in every year, found others in {path} "
                f"than in {found[0][0]}"
            )
    return found[0][1] if found else ((), ())


def _told_in(folder: Path) -> Path:
    return folder if (folder / CLASSNAMES).is_file() else folder.parent


def _labels(shards: Shards, samples: Rows, classes: int) -> Rows:
    labels = np.empty(len(samples), np.int64)
    for place, sample in enumerate(samples.tolist()):
        content = shards.part(sample, "cls")
        if not _CLASS.fullmatch(content) or int(content) >= classes:
            raise OnwardError(
                f"expected the number of a class from 0 to {classes - 1} in cls of "
                f"{shards.where(sample)}, found {content[:20]!r}"
            )
        labels[place] = int(content)
    return labels
