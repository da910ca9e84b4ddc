"""Small folders in the layouts of TiC-CLIP's data, and shards written by hand."""

import io
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import webdataset as wds
from PIL import Image

from onward.data.dated_pairs import DatedPairs, emoji_pairs
from onward.data.tic_make import make_tic_shards

SAMPLES = 16
UNTIL = np.datetime64("2020-02")


@cache
def emoji() -> DatedPairs:
    """Return the pairs that all folders are made of: four months in three years."""
    every = emoji_pairs()
    rows = np.flatnonzero(every.days < UNTIL)
    return DatedPairs(
        tuple(every.ids[row] for row in rows),
        every.days[rows],
        tuple(every.captions[row] for row in rows),
        every.labels[rows],
        every.groups[rows],
        every.images[rows],
    )


def made(folder: Path, layout: str, seed: int = 0) -> Path:
    """Write one of the layouts."""
    make_tic_shards(folder, emoji(), layout, seed=seed, samples=SAMPLES)
    return folder


def encoded(kind: str = "JPEG", size: tuple[int, int] = (20, 12), mode: str = "RGB") -> bytes:
    """Return a gradient as a file."""
    across = np.linspace(0, 255, size[0])[None, :, None]
    down = np.linspace(255, 0, size[1])[:, None, None]
    pixels = np.concatenate([across + 0 * down, down + 0 * across, (across + down) / 2], 2)
    sink = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).convert(mode).save(sink, kind)
    return sink.getvalue()


def tar(path: Path, samples: Mapping[str, Mapping[str, bytes]]) -> Path:
    """Write a shard with webdataset."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wds.TarWriter(str(path), encoder=False, mtime=0) as file:
        for key, parts in samples.items():
            file.write({"__key__": key, **parts})
    return path


def pairs(*keys: str) -> dict[str, dict[str, bytes]]:
    """Return samples with an image and a caption each."""
    image = encoded()
    return {key: {"jpg": image, "txt": f"caption of {key}".encode()} for key in keys}


def change(path: Path, **values: object) -> None:
    """Write other values into a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
