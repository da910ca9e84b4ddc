"""Write dated pairs as TiC-DataComp: shards by year and by month, or lists of ids and a pool."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onward.data.chosen_pairs import ChosenPairs, write_json, write_tar
from onward.data.prompts import CLASSNAMES, TEMPLATES
from onward.data.split import uniform
from onward.data.tic_joined import CLASSES, MONTHLY, RETRIEVAL, YEARLY
from onward.data.uid_lists import uids_of
from onward.types import Array, Rows

_SHARD = 100
_PROMPTS = ("{c}.", "a drawing of {c}.")


def write_datacomp(written: ChosenPairs, root: Path) -> None:
    """Write shards by year and by month, to learn from and to test with."""
    for calendar in ("yearly", "monthly"):
        for time in written.times(calendar):
            rows = written.rows(time, "train")
            _training_shards(written, root / calendar / "train" / time, rows)
            asked = written.rows(time, "test")
            evals = root / calendar / "eval"
            _test_shards(written, evals / "retrieval" / time, asked, "retrieval")
            folder = evals / "datacompnet" / time
            _test_shards(written, folder, asked, "classification")
            _write_prompts(written, folder)


def _training_shards(written: ChosenPairs, folder: Path, rows: Rows) -> None:
    folder.mkdir(parents=True)
    sizes = {}
    for number, start in enumerate(range(0, len(rows), _SHARD)):
        mine = rows[start : start + _SHARD].tolist()
        name = f"{number:08d}"
        sizes[f"{name}.tar"] = len(mine)
        write_tar(
            folder / f"{name}.tar", (_pair(written, row, f"{written.uid(row)}-0") for row in mine)
        )
        write_json(folder / f"{name}_stats.json", {"successes": len(mine)})
    write_json(folder / "sizes.json", sizes)
    write_json(folder / "meta.json", {"output_count": len(rows), "output_shard_count": len(sizes)})


def _pair(written: ChosenPairs, row: int, key: str) -> dict[str, bytes | str]:
    caption = written.pairs.captions[row].encode()
    image = written.encoded(row, "PNG")
    return {"__key__": key, "png": image, "txt": caption, "json": written.told(row)}


def _test_shards(written: ChosenPairs, folder: Path, rows: Rows, kind: str) -> None:
    folder.mkdir(parents=True)
    starts = range(0, len(rows), _SHARD)
    for number, start in enumerate(starts):
        samples = []
        for row in rows[start : start + _SHARD].tolist():
            sample: dict[str, bytes | str] = {"__key__": f"s{row:07d}"}
            sample["png"] = written.encoded(row, "PNG")
            if kind == "classification":
                sample["cls"] = str(written.classes.index(written.pairs.labels[row])).encode()
            else:
                sample["txt"] = written.pairs.captions[row].encode()
            samples.append(sample)
        write_tar(folder / f"{number}.tar", samples)
    (folder / "nshards.txt").write_text(f"{len(starts)}")
    (folder / "count.txt").write_text(f"{len(rows)}")
    (folder / "dataset_type.txt").write_text(kind)


def _write_prompts(written: ChosenPairs, folder: Path) -> None:
    (folder / CLASSNAMES).write_text("".join(f"{name}\n" for name in written.classes))
    (folder / TEMPLATES).write_text("".join(f"{form}\n" for form in _PROMPTS))


def write_ids(written: ChosenPairs, root: Path) -> None:
    """Write lists of ids by year and by month, and a pool of shards that knows no time."""
    yearly, monthly, pool = root / YEARLY, root / MONTHLY, root / "commonpool"
    for folder in (yearly, monthly, pool):
        folder.mkdir()
    every = np.concatenate([written.chosen[key] for key in sorted(written.chosen)])
    every = every[np.argsort(uniform(np.array(written.pairs.ids)[every], "pool"), kind="stable")]
    for number, start in enumerate(range(0, len(every), _SHARD)):
        mine = every[start : start + _SHARD].tolist()
        # As the pool's own tools write them: numbered, with the id in the json.
        named = [(row, f"{number:05d}{place:04d}") for place, row in enumerate(mine)]
        write_tar(pool / f"{number:08d}.tar", (_pair(written, row, key) for row, key in named))
    asked: dict[str, list[str]] = {}
    classes: dict[str, dict[str, list[str]]] = {}
    for year in written.times("yearly"):
        np.save(yearly / f"{year}.npy", _sorted(written, written.rows(year, "train")))
        months = [month for month in written.times("monthly") if month.startswith(year)]
        tested = written.rows(year, "test").tolist()
        _tar_of_lists(written, monthly / f"{year}.tar", months, tested)
        asked[year] = [written.uid(row) for row in tested]
        classes[year] = {name: [] for name in written.classes}
        for row in tested:
            classes[year][written.pairs.labels[row]].append(written.uid(row))
    write_json(root / f"{RETRIEVAL}.json", asked)
    write_json(root / f"{CLASSES}.json", classes)
    _write_prompts(written, root)


def _sorted(written: ChosenPairs, rows: Rows) -> Array:
    return np.sort(uids_of([written.uid(row) for row in rows.tolist()]))


def _tar_of_lists(
    written: ChosenPairs, path: Path, months: Sequence[str], tested: Sequence[int]
) -> None:
    with tarfile.open(path, "w") as tar:
        for month in months:
            # The months' lists have the ids that are tested with, the years' have not.
            asked = np.intersect1d(written.rows(month, "test"), tested)
            sink = io.BytesIO()
            both = np.concatenate([written.rows(month, "train"), asked])
            np.save(sink, _sorted(written, both))
            member = tarfile.TarInfo(f"{month}.npy")
            member.size = sink.tell()
            sink.seek(0)
            tar.addfile(member, sink)
