"""``onward curate shards``: dated pairs and their tests as tars, in TiC-CLIP's layout."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from onward.binary_files import read_parquet
from onward.curate.embed_images import images_digest
from onward.curate.image_index import ImageIndex
from onward.curate.images import image_shards
from onward.curate.lineage import LINEAGE, lineage_of, write_lineage
from onward.curate.make_tests import CLASS_LIST, CLASSES, RETRIEVAL
from onward.curate.pair_rows import PairRows, read_pair_rows
from onward.curate.stage import Stage, making, open_stage
from onward.curate.watching import Watch, unwatched
from onward.data.read_files import read_json
from onward.data.released_shards import (
    Sample,
    evaluation_shards,
    training_shards,
    write_json,
    write_lists,
    write_prompts,
)
from onward.data.tic_datacomp import CALENDARS
from onward.data.tic_layout import OWN
from onward.data.uid_lists import uids_of
from onward.errors import unknown
from onward.files import remove_drafts
from onward.table import Array

TEMPLATES = ("a photo of a {c}.", "a picture of a {c}.", "{c}.")
IDS, SUBTREES = "ids", "subtrees.json"
SHARD_SIZE = 10_000
_UNITS = {"yearly": "Y", "monthly": "M"}


def make_shards(
    tests: Path,
    images: Path,
    out: Path,
    *,
    calendar: str = "yearly",
    shard_size: int = SHARD_SIZE,
    templates: Sequence[str] = TEMPLATES,
    watch: Watch = unwatched,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Write shards to learn from and to test with, and lists of ids; return what was counted.

    Images are copied byte by byte. A command that was stopped goes on after the last whole shard,
    and ends with the same bytes. Memory holds some hundred bytes of each pair and one shard's
    captions; of a shard, one image at a time.

    Parameters
    ----------
    tests
        A folder of ``onward curate tests``.
    images
        Where the images lie: files, or tar shards.
    out
        Where to.
    calendar
        A period is a year, ``yearly``, or a month, ``monthly``.
    shard_size
        Pairs in a shard, at most.
    templates
        Of prompts, with ``{c}`` where the class stands.
    watch, on_wait
        Shows progress; called if another process is at work on the same folder.
    """
    if calendar not in CALENDARS:
        raise unknown("calendar", calendar, CALENDARS, "onward curate shards --help")
    stage, held = open_stage(tests, "tests"), image_shards(images)
    options = {
        "tests": stage.digest,
        "images": images_digest(held),
        "calendar": calendar,
        "shard_size": shard_size,
        "templates": list(templates),
    }
    with making(out, "shards", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        for folder in {path.parent for path in out.rglob(".*")}:
            remove_drafts(folder)
        rows = read_pair_rows(stage)
        asked = _Asked.of(stage)
        every = np.concatenate([rows.uids, uids_of(asked.ids)])
        with watch(len(held), "shards", "looking through") as step:
            index = ImageIndex(images, held, np.unique(every), step)
        index.of(asked.ids)
        base, times = out / calendar, _times(rows.times, calendar)
        counts = []
        with watch(len(rows) + len(asked.ids), "pairs", "writing") as step:
            for name in sorted(set(times.tolist())):
                mine = np.flatnonzero(times == name)
                learn = partial(_learned, rows, mine, index, step)
                number = training_shards(base / "train" / name, len(mine), learn, shard_size)
                told = {"name": name, "pairs": len(mine), "shards": number}
                counts.append(told | asked.write(base, name, calendar, shard_size, index, step))
        if asked.classes:
            for name in (one["name"] for one in counts if one["classified"]):
                folder = base / "eval" / "datacompnet" / name
                write_prompts(folder, [one["name"] for one in asked.classes], templates)
        if asked.parts:
            write_json(out / SUBTREES, asked.parts)
        _write_ids(out / IDS, rows, asked, templates)
        write_json(out / OWN, {"calendar": calendar, "merged": []})
        write_lineage(out / LINEAGE, lineage_of(stage))
        untested = [one["name"] for one in counts if not one["retrieval"]]
        found = {"calendar": calendar, "periods": counts, "untested": untested}
        for key in ("pairs", "shards", "retrieval", "classified"):
            found[key] = sum(one[key] for one in counts)
        return made.finish(found)


@dataclass(frozen=True)
class _Asked:
    """What is tested with, by the time it is of."""

    retrieval: list[dict[str, Any]]
    classified: list[dict[str, Any]]
    classes: list[dict[str, Any]]
    parts: dict[str, list[str]]

    @classmethod
    def of(cls, stage: Stage) -> "_Asked":
        retrieval = read_parquet(stage.folder / RETRIEVAL).to_pylist()
        if not (stage.folder / CLASS_LIST).is_file():
            return cls(retrieval, [], [], {})
        told = read_json(stage.folder / CLASS_LIST)
        classified = read_parquet(stage.folder / CLASSES).to_pylist()
        return cls(retrieval, classified, told["classes"], told["parts"])

    @property
    def ids(self) -> list[str]:
        return [one["id"] for one in (*self.retrieval, *self.classified)]

    def write(
        self,
        base: Path,
        name: str,
        calendar: str,
        size: int,
        index: ImageIndex,
        step: Callable[[int], None],
    ) -> dict[str, int]:
        """Write the tests of a period, and return how many pairs they have."""
        found = {}
        for use, kind, every in (
            ("retrieval", "retrieval", self.retrieval),
            ("datacompnet", "classification", self.classified),
        ):
            mine = [one for one in every if _time(one, calendar) == name]
            if mine:
                folder = base / "eval" / use / name
                tests = partial(_tested, mine, kind, index, step)
                evaluation_shards(folder, len(mine), tests, kind, size)
            found["retrieval" if use == "retrieval" else "classified"] = len(mine)
        return found


def _learned(
    rows: PairRows,
    mine: Array,
    index: ImageIndex,
    step: Callable[[int], None],
    start: int,
    stop: int,
) -> Iterator[Sample]:
    """Yield samples to learn from, from one place among those of a period to before another."""
    taken = rows.taken(mine[start:stop], ["id", "time", "url", "caption"])
    for one, place in zip(taken, index.of([one["id"] for one in taken]), strict=True):
        sample: dict[str, bytes | str] = {"__key__": f"{one['id']}-0"}
        yield sample | {place.kind: place.read(), "txt": _text(one), "json": _told(one)}
        step(1)


def _tested(
    mine: Sequence[Mapping[str, Any]],
    kind: str,
    index: ImageIndex,
    step: Callable[[int], None],
    start: int,
    stop: int,
) -> Iterator[Sample]:
    """Yield samples of a test, from one place to before another."""
    some = mine[start:stop]
    places = index.of([one["id"] for one in some])
    for number, (one, place) in enumerate(zip(some, places, strict=True), start):
        sample: dict[str, bytes | str] = {"__key__": f"s{number:07d}"}
        sample[place.kind] = place.read()
        if kind == "retrieval":
            sample["txt"] = _text(one)
        else:
            sample["cls"] = str(one["class"]).encode()
        yield sample | {"json": _told(one)}
        step(1)


def _text(one: Mapping[str, Any]) -> bytes:
    """Return a caption in one line: in a test, each line is a caption of its own."""
    return " ".join(one["caption"].split()).encode()


def _told(one: Mapping[str, Any]) -> bytes:
    told = {"uid": one["id"], "date": f"{one['time']:%Y-%m-%d}"}
    if one.get("url"):
        told["url"] = one["url"]
    return json.dumps(told, sort_keys=True).encode()


def _time(one: Mapping[str, Any], calendar: str) -> str:
    return f"{one['time']:%Y}" if calendar == "yearly" else f"{one['time']:%Y%m}"


def _times(moments: Array, calendar: str) -> Array:
    """Return the name of the period of each moment."""
    spans = moments.astype("datetime64[us]").astype(f"datetime64[{_UNITS[calendar]}]")
    return np.char.replace(spans.astype(str), "-", "")


def _write_ids(root: Path, rows: PairRows, asked: _Asked, templates: Sequence[str]) -> None:
    """Write lists of ids, and beside them what their classes are called, by WordNet's numbers."""
    months = _times(rows.times, "monthly")
    learned = {name: rows.uids[months == name] for name in sorted(set(months.tolist()))}
    tested: dict[str, dict[str, list[str]]] = {}
    for one in asked.retrieval:
        month = _time(one, "monthly")
        tested.setdefault(month[:4], {}).setdefault(month, []).append(one["id"])
    if not asked.classes:
        write_lists(root, learned, tested, None)
        return
    named: dict[str, dict[str, list[str]]] = {}
    for one in asked.classified:
        year = named.setdefault(f"{one['time']:%Y}", {c["wnid"]: [] for c in asked.classes})
        year[asked.classes[one["class"]]["wnid"]].append(one["id"])
    write_lists(root, learned, tested, named)
    ordered = sorted(asked.classes, key=lambda one: str(one["wnid"]))
    write_prompts(root, [one["name"] for one in ordered], templates)
    write_json(root / OWN, {"calendar": "yearly", "merged": []})
