"""Write dated pairs as TiC-YFCC and TiC-RedCaps: tables over a folder of images, and tars."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from onward.data.chosen_pairs import ChosenPairs, write_tar
from onward.data.listed_pairs import COLUMNS
from onward.data.tic_splits import YFCC

_PACKED = 1000


def write_yfcc(written: ChosenPairs, root: Path) -> None:
    """Write four batches, in order of time. Readers call them 2004-2008 and so on, as the paper."""
    months = np.array_split(np.array(written.times("monthly")), len(YFCC))
    batches = {str(number): some.tolist() for number, some in enumerate(months)}

    def path_of(row: int) -> str:
        key = written.uid(row)
        return f"{key[:3]}/{key[3:6]}/{key}.jpg"

    _splits(written, root, batches, path_of)


def write_redcaps(written: ChosenPairs, root: Path) -> None:
    """Write a batch for each year; classes take the place of subreddits."""
    batches = {year: [year] for year in written.times("yearly")}
    _splits(written, root, batches, lambda row: f"{written.pairs.labels[row]}/{row}.jpg")


def _splits(
    written: ChosenPairs,
    root: Path,
    batches: Mapping[str, Sequence[str]],
    path_of: Callable[[int], str],
) -> None:
    for folder in ("splits", "images", "shards"):
        (root / folder).mkdir()
    for batch, times in batches.items():
        for use in ("train", "test"):
            rows = [row for time in times for row in written.rows(time, use).tolist()]
            stem = f"{use}_batch_{batch}"
            samples: list[dict[str, bytes | str]] = []
            with (root / "splits" / f"{stem}.csv").open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, delimiter="\t", lineterminator="\n")
                table.writerow(COLUMNS)
                for number, row in enumerate(rows):
                    path, caption = path_of(row), written.pairs.captions[row]
                    table.writerow((path, caption))
                    image = written.encoded(row, "JPEG")
                    place = root / "images" / path
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(image)
                    told = json.dumps({"caption": caption}).encode()
                    samples.append({"__key__": f"{number}", "jpg": image, "json": told})
            for number, start in enumerate(range(0, len(samples), _PACKED)):
                packed = samples[start : start + _PACKED]
                write_tar(root / "shards" / f"{stem}__{number:08d}.tar", packed)
