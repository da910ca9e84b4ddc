"""Pairs in tables of paths and captions, as TiC-YFCC and TiC-RedCaps have them, over a folder."""

import csv
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from onward.data.folder_images import file_sizes
from onward.data.gaps import Flaw, Gaps
from onward.data.pair_files import NumberedFiles
from onward.errors import OnwardError
from onward.types import Array, Rows

COLUMNS = ("path", "caption")
# A caption may be as long as the csv module's own limit of a field is not.
csv.field_size_limit(1 << 24)
_LINES = np.dtype([("at", np.int64), ("size", np.int32), ("row", np.int32), ("text", np.int32)])


@dataclass(frozen=True, eq=False)
class ListedPairs(NumberedFiles):
    """Samples that are lines of tables, in the order of the files.

    A line is read again when it is asked for, so that no caption stays in memory.

    Tables are tab separated, first a line with the names of the columns; paths in them begin in
    ``images``. ``lines`` has where each sample's line lies. The digest is of the tables and of the
    sizes of the images.
    """

    images: Path
    lines: Array

    @property
    def text_sizes(self) -> Array:
        """How many bytes the text of each sample has."""
        return np.asarray(self.lines["text"])

    def file_of(self, samples: Rows) -> Rows:
        """Return 0: every image is a file of its own, so that no order is better than another."""
        return np.zeros(len(samples), np.int64)

    def image(self, sample: int) -> bytes:
        """Return an encoded image."""
        path = self.images / self._line(sample)[0]
        try:
            return path.read_bytes()
        except OSError as error:
            raise OnwardError(
                f"expected the image of {self.where(sample)} in {path}, found none "
                f"({error.strerror}). Put it back and run the same command again"
            ) from error

    def text(self, sample: int) -> str:
        """Return a text, as it was written."""
        return self._line(sample)[1]

    def where(self, sample: int) -> str:
        """Say where a sample lies, for people."""
        return f"row {self.lines['row'][sample]} of {self._path(sample)}"

    def ids(self, samples: Rows) -> pa.Array:
        """Return names: the table's, then the number of the row."""
        tables = super().file_of(samples).tolist()
        places = zip(tables, self.lines["row"][samples].tolist(), strict=True)
        return pa.array([_name(self.paths[table], row) for table, row in places], pa.string())

    def _line(self, sample: int) -> tuple[str, str]:
        at, size, _, _ = self.lines[sample].item()
        content = os.pread(self._open(self._path(sample)), size, at).decode("utf-8", "replace")
        # With its line ends, since a quoted caption may have some of its own.
        path, caption = next(csv.reader(content.splitlines(keepends=True), delimiter="\t"))[:2]
        return path, caption


def open_listed(tables: Sequence[Path], images: Path, gaps: Gaps) -> ListedPairs:
    """Look through tables, and return their samples; rows without an image or caption are gaps."""
    hashed = hashlib.sha256()
    lines, counts = [], [0]
    broken: list[Flaw] = []
    for table in tables:
        places, paths = [], []
        with table.open("rb") as file:
            for number, (row, at, size) in enumerate(_rows(file, table)):
                if len(gaps.listed([_name(table, number)])):
                    continue
                problem = _problem(row)
                if problem:
                    broken.append(Flaw(_name(table, number), f"row {number} of {table}", problem))
                    continue
                places.append((at, size, number, len(row[1].encode())))
                paths.append(row[0])
            file.seek(0)
            hashed.update(hashlib.file_digest(file, "sha256").digest())
        there = file_sizes(images, paths)
        broken += [
            Flaw(_name(table, number), str(images / path), "no such file")
            for (_, _, number, _), path in zip(places, paths, strict=True)
            if path not in there
        ]
        kept = np.array([path in there for path in paths], np.bool_)
        hashed.update("\n".join(f"{path} {there.get(path)}" for path in paths).encode())
        lines.append(np.array(places, _LINES)[kept])
        counts.append(int(kept.sum()))
    gaps.leave_out(broken, "row", "an image and a caption in every row")
    return ListedPairs(
        tuple(tables), np.cumsum(counts), hashed.hexdigest(), images, np.concatenate(lines)
    )


def _name(table: Path, row: int) -> str:
    return f"{table.stem}/{row}"


def _rows(file: IO[bytes], table: Path) -> Iterator[tuple[list[str], int, int]]:
    """Yield rows with where they begin and how long they are; a quoted one may have many lines."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in file:
            read += len(line)
            yield line.decode("utf-8", "replace")

    rows = csv.reader(lines(), delimiter="\t")
    head = next(rows, [])
    if tuple(head[:2]) != COLUMNS:
        raise OnwardError(
            f"expected a table with the tab separated columns path and caption in {table}, found "
            f"{head[:3]}. Write it again as docs/benchmarks/tic_data.md has it"
        )
    begin = read
    for row in rows:
        yield row, begin, read - begin
        begin = read


def _problem(row: list[str]) -> str:
    if len(row) < 2 or not row[1].strip():
        return "no caption"
    if not row[0]:
        return "no image"
    # A table of somebody else's must not lead out of the folder.
    if Path(row[0]).is_absolute() or ".." in Path(row[0]).parts:
        return "a path that leads out of the folder of images"
    return ""
