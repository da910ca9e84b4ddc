"""Shards, tests and lists of ids as TiC-DataComp has them: what is written, whoever has the pairs.

Each file is there whole or not at all, and a shard whose statistics are there is not written again:
who is stopped goes on where it was.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from onward.data.chosen_pairs import write_tar
from onward.data.prompts import CLASSNAMES, TEMPLATES
from onward.data.tic_joined import CLASSES, MONTHLY, RETRIEVAL, YEARLY
from onward.data.uid_lists import uids_of
from onward.files import write_atomic
from onward.types import Array

Sample = Mapping[str, bytes | str]
Samples = Callable[[int, int], Iterable[Sample]]
"""Returns the samples from one place to before another, when they are to be written."""


def write_json(path: Path, value: object) -> None:
    """Write JSON; the same value gives the same bytes."""
    write_atomic(path, json.dumps(value, sort_keys=True).encode())


def training_shards(folder: Path, count: int, samples: Samples, size: int) -> int:
    """Write shards of so many samples to learn from, and return how many shards there are."""
    sizes = {}
    for number, start in enumerate(range(0, count, size)):
        stop = min(start + size, count)
        name = f"{number:08d}"
        sizes[f"{name}.tar"] = stop - start
        told = folder / f"{name}_stats.json"
        if not told.is_file():
            _write_shard(folder / f"{name}.tar", samples(start, stop))
            write_json(told, {"successes": stop - start})
    write_json(folder / "sizes.json", sizes)
    write_json(folder / "meta.json", {"output_count": count, "output_shard_count": len(sizes)})
    return len(sizes)


def evaluation_shards(folder: Path, count: int, samples: Samples, kind: str, size: int) -> None:
    """Write shards to test with: ``retrieval`` or ``classification``."""
    starts = range(0, count, size)
    for number, start in enumerate(starts):
        path = folder / f"{number}.tar"
        if not path.is_file():
            _write_shard(path, samples(start, min(start + size, count)))
    for name, value in (("nshards", len(starts)), ("count", count), ("dataset_type", kind)):
        write_atomic(folder / f"{name}.txt", f"{value}".encode())


def write_prompts(folder: Path, names: Sequence[str], templates: Sequence[str]) -> None:
    """Write what classes are called, and the templates of prompts."""
    for name, lines in ((CLASSNAMES, names), (TEMPLATES, templates)):
        write_atomic(folder / name, "".join(f"{line}\n" for line in lines).encode())


def write_lists(
    root: Path,
    learned: Mapping[str, Sequence[str] | Array],
    asked: Mapping[str, Mapping[str, Sequence[str]]],
    classes: Mapping[str, Mapping[str, Sequence[str]]] | None,
) -> None:
    """Write lists of ids by year and by month.

    Parameters
    ----------
    root
        Where to.
    learned
        Ids to learn from by month, such as 201603: letters, or pairs of numbers.
    asked
        Ids to retrieve by year, and in it by month.
    classes
        Ids to classify by year, and in it by class.
    """
    years = sorted({month[:4] for month in learned})
    for year in years:
        months = [month for month in sorted(learned) if month.startswith(year)]
        write_atomic(root / YEARLY / f"{year}.npy", _listed(*(learned[m] for m in months)))
        # The months' lists have the ids that are tested with, the years' have not.
        tested = asked.get(year, {})
        lists = {m: _listed(learned[m], tested.get(m, ())) for m in months}
        write_atomic(root / MONTHLY / f"{year}.tar", _tar_of_lists(lists))
    flat = {
        year: [uid for month in sorted(months) for uid in months[month]]
        for year, months in asked.items()
    }
    write_json(root / f"{RETRIEVAL}.json", flat)
    if classes is not None:
        write_json(root / f"{CLASSES}.json", classes)


def _write_shard(path: Path, samples: Iterable[Sample]) -> None:
    write_atomic(path, lambda file: write_tar(file, samples))


def _listed(*uids: Sequence[str] | Array) -> bytes:
    sink = io.BytesIO()
    parts = [some if isinstance(some, np.ndarray) else uids_of(list(some)) for some in uids]
    np.save(sink, np.sort(np.concatenate(parts)))
    return sink.getvalue()


def _tar_of_lists(lists: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as tar:
        for name, content in lists.items():
            member = tarfile.TarInfo(f"{name}.npy")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return sink.getvalue()
