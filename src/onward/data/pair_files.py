"""Files with pairs of an image and a text: what all of them can do, and what they share."""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from onward.errors import OnwardError
from onward.types import Array, Rows

_OPEN = 64
_NUMBERS = re.compile(r"(\d+)")


class PairFiles(Protocol):
    """Files with pairs of an image and a text, numbered through."""

    @property
    def digest(self) -> str:
        """A hash of what is in them, as far as it can be told without reading all of it."""

    def __len__(self) -> int:
        """How many samples there are."""

    @property
    def text_sizes(self) -> Array:
        """How many bytes the text of each sample has."""

    def file_of(self, samples: Rows) -> Rows:
        """Return in which file each sample lies; those of one file are cheap to read together."""

    def image(self, sample: int) -> bytes:
        """Return an encoded image."""

    def text(self, sample: int) -> str:
        """Return a text, as it was written."""

    def where(self, sample: int) -> str:
        """Say where a sample lies, for people."""

    def ids(self, samples: Rows) -> pa.Array:
        """Return names of samples."""


class OpenFiles:
    """Files that are open for reading: the last few. Copies to other processes begin with none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._handles: OrderedDict[Path, int] = OrderedDict()

    def __call__(self, path: Path) -> int:
        """Return a handle to read from, by place."""
        if path in self._handles:
            self._handles.move_to_end(path)
            return self._handles[path]
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise OnwardError(
                f"expected to read {path} on, found that it is gone ({error.strerror}). Put it "
                "back and run the same command again"
            ) from error
        self._handles[path] = handle
        if len(self._handles) > self._most:
            os.close(self._handles.popitem(last=False)[1])
        return handle

    def __reduce__(self) -> tuple[type["OpenFiles"], tuple[int]]:
        return OpenFiles, (self._most,)

    def __del__(self) -> None:
        for handle in self._handles.values():
            os.close(handle)


@dataclass(frozen=True, eq=False)
class NumberedFiles:
    """Files that have several samples each, numbered through in the order of the files.

    ``starts`` has the number of each file's first sample, then that of all.

    Examples
    --------
    >>> files = NumberedFiles((Path("a"), Path("b"), Path("c")), np.array([0, 3, 5, 6]), "")
    >>> files.of([0, 2]).tolist(), files.file_of(np.array([4])).tolist()
    ([0, 1, 2, 5], [1])
    """

    paths: tuple[Path, ...]
    starts: Rows
    digest: str
    _open: OpenFiles = field(default_factory=lambda: OpenFiles(_OPEN), repr=False, kw_only=True)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def file_of(self, samples: Rows) -> Rows:
        """Return in which file each sample lies."""
        return np.searchsorted(self.starts, samples, side="right") - 1

    def of(self, files: Sequence[int]) -> Rows:
        """Return all samples of some files."""
        parts = [np.arange(self.starts[file], self.starts[file + 1]) for file in files]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _path(self, sample: int) -> Path:
        return self.paths[int(np.searchsorted(self.starts, sample, side="right")) - 1]


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Return files by the numbers in their names, so that 10 comes after 9."""

    def key(path: Path) -> list[str | int]:
        # Every second part is a number, so that numbers are compared with numbers alone.
        return [int(n) if n.isdigit() else n for n in _NUMBERS.split(path.name)]

    return sorted(paths, key=key)
