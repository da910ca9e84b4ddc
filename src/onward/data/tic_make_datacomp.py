"""Write dated pairs as TiC-DataComp: shards by year and by month, or lists of ids and a pool."""

from pathlib import Path

import numpy as np

from onward.data.chosen_pairs import ChosenPairs, write_tar
from onward.data.released_shards import (
    Sample,
    evaluation_shards,
    training_shards,
    write_lists,
    write_prompts,
)
from onward.data.split import uniform
from onward.types import Rows

_SHARD = 100
_PROMPTS = ("{c}.", "a drawing of {c}.")


def write_datacomp(written: ChosenPairs, root: Path) -> None:
    """Write shards by year and by month, to learn from and to test with."""
    for calendar in ("yearly", "monthly"):
        evals = root / calendar / "eval"
        for time in written.times(calendar):
            _training_shards(written, root / calendar / "train" / time)
            _test_shards(written, evals / "retrieval" / time, "retrieval")
            _test_shards(written, evals / "datacompnet" / time, "classification")
            write_prompts(evals / "datacompnet" / time, written.classes, _PROMPTS)


def _training_shards(written: ChosenPairs, folder: Path) -> None:
    rows = written.rows(folder.name, "train")
    training_shards(
        folder,
        len(rows),
        lambda start, stop: (
            _pair(written, row, f"{written.uid(row)}-0") for row in rows[start:stop].tolist()
        ),
        _SHARD,
    )


def _test_shards(written: ChosenPairs, folder: Path, kind: str) -> None:
    rows = written.rows(folder.name, "test")
    evaluation_shards(
        folder,
        len(rows),
        lambda start, stop: (_asked(written, row, kind) for row in rows[start:stop].tolist()),
        kind,
        _SHARD,
    )


def _pair(written: ChosenPairs, row: int, key: str) -> Sample:
    caption = written.pairs.captions[row].encode()
    image = written.encoded(row, "PNG")
    return {"__key__": key, "png": image, "txt": caption, "json": written.told(row)}


def _asked(written: ChosenPairs, row: int, kind: str) -> Sample:
    sample: dict[str, bytes | str] = {"__key__": f"s{row:07d}"}
    sample["png"] = written.encoded(row, "PNG")
    if kind == "classification":
        sample["cls"] = str(written.classes.index(written.pairs.labels[row])).encode()
    else:
        sample["txt"] = written.pairs.captions[row].encode()
    return sample


def write_ids(written: ChosenPairs, root: Path) -> None:
    """Write lists of ids by year and by month, and a pool of shards that knows no time."""
    pool = root / "commonpool"
    pool.mkdir()
    every = np.concatenate([written.chosen[key] for key in sorted(written.chosen)])
    every = every[np.argsort(uniform(np.array(written.pairs.ids)[every], "pool"), kind="stable")]
    for number, start in enumerate(range(0, len(every), _SHARD)):
        mine = every[start : start + _SHARD].tolist()
        # As the pool's own tools write them: numbered, with the id in the json.
        named = [(row, f"{number:05d}{place:04d}") for place, row in enumerate(mine)]
        write_tar(pool / f"{number:08d}.tar", (_pair(written, row, key) for row, key in named))
    asked: dict[str, dict[str, list[str]]] = {}
    classes: dict[str, dict[str, list[str]]] = {}
    months = written.times("monthly")
    for year in written.times("yearly"):
        tested = written.rows(year, "test")
        mine = {month: written.rows(month, "test") for month in months if month[:4] == year}
        asked[year] = {
            month: _uids(written, tested[np.isin(tested, rows)]) for month, rows in mine.items()
        }
        classes[year] = {name: [] for name in written.classes}
        for row in tested.tolist():
            classes[year][written.pairs.labels[row]].append(written.uid(row))
    learned = {month: _uids(written, written.rows(month, "train")) for month in months}
    write_lists(root, learned, asked, classes)
    write_prompts(root, written.classes, _PROMPTS)


def _uids(written: ChosenPairs, rows: Rows) -> list[str]:
    return [written.uid(row) for row in rows.tolist()]
