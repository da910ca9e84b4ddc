"""The pairs that a folder is written from, and how they are written into tars."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from onward.data.dated_pairs import DatedPairs
from onward.data.images import encoded
from onward.data.tar_index import webdataset
from onward.types import Rows


@dataclass(frozen=True, eq=False)
class ChosenPairs:
    """The pairs, which of them belong to which month and use, and how they are called."""

    pairs: DatedPairs
    chosen: Mapping[tuple[str, str], Rows]
    seed: int

    @property
    def classes(self) -> list[str]:
        """The names of classes, in order."""
        return sorted(set(self.pairs.labels.tolist()))

    def times(self, calendar: str) -> list[str]:
        """Return the years, or the months, in order."""
        months = sorted({month for month, _ in self.chosen})
        return months if calendar == "monthly" else sorted({month[:4] for month in months})

    def rows(self, time: str, use: str) -> Rows:
        """Return the rows of a month, or of all months of a year."""
        mine = [key for key in sorted(self.chosen) if key[1] == use and key[0].startswith(time)]
        rows = np.concatenate([self.chosen[key] for key in mine])
        if use == "train":
            return rows
        # A caption that is there twice could not be told which image it asks for.
        captions = np.array([self.pairs.captions[row] for row in rows.tolist()])
        return rows[np.sort(np.unique(captions, return_index=True)[1])]

    def uid(self, row: int) -> str:
        """Return the id of a pair, in hexadecimal letters."""
        name = f"{self.seed} {self.pairs.ids[row]}"
        return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()

    def encoded(self, row: int, kind: str) -> bytes:
        """Return an image as a file of this format."""
        image = Image.fromarray(self.pairs.rgb(np.array([row]))[0])
        return encoded(image, kind, **({"quality": 95, "subsampling": 0} if kind == "JPEG" else {}))

    def told(self, row: int) -> bytes:
        """Return what DataComp's samples carry along."""
        day = str(self.pairs.days[row])
        return json.dumps({"uid": self.uid(row), "date": day}, sort_keys=True).encode()


def write_tar(path: Path | IO[bytes], samples: Iterable[Mapping[str, bytes | str]]) -> None:
    """Write a shard; the same samples give the same bytes."""
    place = str(path) if isinstance(path, Path) else path
    with webdataset().TarWriter(place, encoder=False, mtime=0) as tar:
        for sample in samples:
            tar.write(sample)
