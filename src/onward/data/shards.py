"""Samples of images and texts in tar shards, read one by one from wherever they lie."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from onward.data.gaps import Flaw, Gaps
from onward.data.pair_files import NumberedFiles, in_order
from onward.data.tar_index import (
    PLACES,
    PROBLEMS,
    DamagedTarError,
    caption_of,
    empty_index,
    tar_index,
    webdataset,
)
from onward.errors import OnwardError
from onward.types import Array, Rows


@dataclass(frozen=True, eq=False)
class Shards(NumberedFiles):
    """Samples in tars, in the order of the files.

    ``names`` are what tars are called in the names of samples, ``keys`` what samples are called in
    their tars, ``places`` where the parts of samples lie, see `onward.data.tar_index.PLACES`, and
    ``found`` how many samples each tar has, those that were left out included, or -1 if nobody can
    tell. The digest is of names, sizes and places.
    """

    names: tuple[str, ...]
    keys: pa.ChunkedArray
    places: Array
    found: Rows

    @property
    def text_sizes(self) -> Array:
        """How many bytes the text of each sample has."""
        return np.asarray(self.places["text_size"])

    def image(self, sample: int) -> bytes:
        """Return an encoded image."""
        return self.part(sample, "image")

    def text(self, sample: int) -> str:
        """Return a text: that of the member txt, or the caption in json."""
        if self.places["txt_at"][sample] >= 0:
            return self.part(sample, "txt").decode("utf-8", "replace")
        return caption_of(self.part(sample, "json")) or ""

    def part(self, sample: int, part: str) -> bytes:
        """Return the bytes of one member of a sample."""
        place = self.places[sample]
        at, size = int(place[f"{part}_at"]), int(place[f"{part}_size"])
        if at < 0:
            raise OnwardError(f"expected a member {part} in {self.where(sample)}, found none")
        content = os.pread(self._open(self._path(sample)), size, at)
        if len(content) != size:
            raise OnwardError(
                f"expected {size:,} bytes of {self.where(sample)}, found {len(content):,}: the "
                "file has changed since it was opened. Run the same command again"
            )
        return content

    def where(self, sample: int) -> str:
        """Say where a sample lies, for people."""
        return f"sample {self.keys[sample].as_py()} of {self._path(sample)}"

    def ids(self, samples: Rows) -> pa.Array:
        """Return names: the tar's, then the sample's own."""
        files = np.array(self.names, dtype=object)[self.file_of(samples)]
        keys = self.keys.take(pa.array(samples)).to_pylist()
        return pa.array([f"{file}/{key}" for file, key in zip(files.tolist(), keys, strict=True)])


def open_shards(
    paths: Sequence[Path],
    root: Path,
    gaps: Gaps | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Shards:
    """Index tars, and return their samples.

    Their names in ids begin below `root`. By default, tars that are cut or damaged, and samples
    without an image or a caption or with several, are listed in an error. `progress` is called with
    how many more tars were looked through.
    """
    hashed = hashlib.sha256()
    keys, places, counts, found = [], [], [0], []
    damaged: list[Flaw] = []
    broken: list[Flaw] = []
    gaps = gaps or Gaps()
    names = tuple(_name(path, root) for path in paths)
    for path, name in zip(paths, names, strict=True):
        try:
            index = tar_index(path)
            found.append(len(index))
        except DamagedTarError as error:
            index = empty_index()
            found.append(-1)
            if not len(gaps.listed([name])):
                damaged.append(Flaw(name, f"{path} ({error})", "cut or damaged"))
        listed = gaps.listed(f"{name}/{key.decode()}" for key in index["key"].tolist())
        wrong = np.flatnonzero(index["problem"])
        for row in np.setdiff1d(wrong, listed).tolist():
            key, problem = index["key"][row].decode(), PROBLEMS[int(index["problem"][row])]
            broken.append(Flaw(f"{name}/{key}", f"{key} of {path}", problem))
        index = np.delete(index, np.union1d(wrong, listed))
        hashed.update(f"{name} {path.stat().st_size} {len(index)}".encode())
        hashed.update(np.ascontiguousarray(index).tobytes())
        keys.append(pa.array([key.decode() for key in index["key"].tolist()], pa.string()))
        places.append(index[list(PLACES.names or ())].astype(PLACES))
        counts.append(len(index))
        progress(1)
    gaps.leave_out(damaged, "shard", "whole tars", most=len(damaged))
    gaps.leave_out(broken, "sample", "an image and a caption in every sample")
    return Shards(
        tuple(paths),
        np.cumsum(counts),
        hashed.hexdigest(),
        names,
        pa.chunked_array(keys, pa.string()),
        np.concatenate(places) if places else np.empty(0, PLACES),
        np.array(found, np.int64),
    )


def shard_paths(text: str) -> tuple[Path, ...]:
    """Return the tars that a text names: folders, patterns, ``{000..123}``, joined by ``::``.

    Raises if any of them is not there.
    """
    found: list[Path] = []
    for part in webdataset().shardlists.expand_urls(text):
        path = Path(part).expanduser()
        if path.is_dir():
            some = in_order(path.glob("*.tar"))
        elif any(mark in path.name for mark in "*?["):
            some = in_order(path.parent.glob(path.name))
        else:
            some = [path] if path.is_file() else []
        if not some:
            raise OnwardError(
                f"expected a tar or a folder of tars in {part}, found none. Several are joined as "
                "in 'DIR/2016/{00000000..00000007}.tar::DIR/2017'"
            )
        found += some
    return tuple(found)


def _name(path: Path, root: Path) -> str:
    near = (
        path.relative_to(root) if path.is_relative_to(root) else Path(path.parent.name, path.name)
    )
    return near.with_suffix("").as_posix()
