"""Reading shards: ours beside webdataset alone, on the same shards, in turns.

    python benchmarks/tic_shards.py [SHARDS] [SAMPLES] [SIDE]

Images are noise that was blurred, as JPEG of about the size that photos of the web have, in shards
as DataComp writes them (jpg, txt, json). ``bytes``: images and captions as they lie there, json
left out by both; ``decoded``: batches, images to 224 pixels by the same function.
``front to back``, and ``shuffled``: ours in the order that training uses, webdataset's with a
shuffle of shards and a buffer of 1,000 samples.
Ratios are of throughput, the median over rounds of ratios inside one round, by CPU time and by the
clock; above 1, ours is faster. Shards are in the system's cache for both. Ours has looked through
the shards before, which it does once: the last line says what that takes.
"""

import io
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import webdataset as wds
from PIL import Image, ImageFilter

from onward.data.chosen_pairs import write_tar
from onward.data.folder_images import opened_image, square
from onward.data.pair_column import CAPTION_BYTES, PAIR, PairColumn
from onward.data.shards import Shards, open_shards
from onward.pairs import HAS_IMAGE, HAS_TEXT, IMAGE, TEXT, cut_text, pair_type

ROUNDS, BATCH, TARGET = 7, 128, 224
DECODED = 300
"""Samples of the one shard that is decoded, which takes seconds a round."""


def main(shards: int = 8, samples: int = 1000, side: int = 320) -> None:
    """Print one line for each way of reading."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONWARD_CACHE"] = str(Path(folder) / "cache")
        paths = written(Path(folder), shards, samples, side)
        one = written(Path(folder) / "one", 1, DECODED, side)
        size = sum(path.stat().st_size for path in paths) / 1e6
        print(f"{shards} shards of {samples} samples, {size:.0f} MB", flush=True)
        looked = measured(lambda: open_shards(paths, Path(folder)))
        opened = open_shards(paths, Path(folder))
        few = open_shards(one, Path(folder))
        for shuffled in (False, True):
            how = "shuffled" if shuffled else "front to back"
            compare(
                f"bytes, {how}",
                lambda s=shuffled: ours_raw(opened, shuffled=s),
                lambda s=shuffled: theirs_raw(paths, shuffled=s),
                len(opened),
            )
            compare(
                f"decoded, {how}",
                lambda s=shuffled: ours_decoded(few, shuffled=s),
                lambda s=shuffled: theirs_decoded(one, shuffled=s),
                DECODED,
            )
        once = measured(lambda: theirs_raw(paths, shuffled=False))
        print(
            f"looking through shards for the first time {1e6 * looked[0] / len(opened):.0f} µs a "
            f"sample: {looked[0] / once[0]:.2f} passes of webdataset over their bytes"
        )


def compare(name: str, ours: Callable[[], int], theirs: Callable[[], int], samples: int) -> None:
    """Print how many samples a second both read, and the ratio."""
    mine, others = [], []
    for turn in range(ROUNDS + 1):
        for ways, read in ((mine, ours), (others, theirs)):
            found = measured(read, samples)
            if turn:  # the first round warms up
                ways.append(found)
    cpu, clock = (
        statistics.median(b[way] / a[way] for a, b in zip(mine, others, strict=True))
        for way in (0, 1)
    )
    each = [samples / statistics.median(time for time, _ in ways) for ways in (mine, others)]
    print(
        f"{name}: {each[0]:,.0f} samples per CPU-second, webdataset alone {each[1]:,.0f}: "
        f"{cpu:.2f}x, by the clock {clock:.2f}x (must: 0.95x)",
        flush=True,
    )


def measured(read: Callable[[], object], samples: int | None = None) -> tuple[float, float]:
    """Return CPU and clock seconds."""
    cpu, clock = time.process_time(), time.perf_counter()
    found = read()
    spent = time.process_time() - cpu, time.perf_counter() - clock
    if samples is not None and found != samples:
        raise SystemExit(f"expected {samples} samples to be read, found {found}")
    return spent


def order_of(shards: Shards, *, shuffled: bool) -> tuple[PairColumn, np.ndarray]:
    """Return a column without a window, and the rows in the order in which they are read."""
    rows = np.arange(len(shards))
    parts, lines = np.full(len(rows), PAIR, np.uint8), np.full(len(rows), -1, np.int32)
    column = PairColumn(shards, rows, parts, lines, (), TARGET, window=0)
    return column, column.shuffled(rows, np.random.default_rng(0)) if shuffled else rows


def ours_raw(shards: Shards, *, shuffled: bool) -> int:
    """Read images and captions by place."""
    _, rows = order_of(shards, shuffled=shuffled)
    read = 0
    for row in rows.tolist():
        read += bool(shards.image(row)) and bool(shards.text(row))
    return read


def theirs_raw(paths: Sequence[Path], *, shuffled: bool) -> int:
    """Read images and captions with webdataset, which groups members into samples."""
    read = 0
    for sample in pipeline(paths, shuffled=shuffled):
        read += bool(sample["jpg"]) and bool(sample["txt"].decode())
    return read


def pipeline(paths: Sequence[Path], *, shuffled: bool) -> Iterator[dict[str, bytes]]:
    """Return webdataset's samples."""
    urls = [str(path) for path in paths]
    if shuffled:
        random.Random(0).shuffle(urls)
    found = wds.WebDataset(
        urls,
        shardshuffle=False,
        empty_check=False,
        select_files=lambda name: not name.endswith(".json"),
    )
    return iter(found.shuffle(1000, rng=random.Random(0)) if shuffled else found)


def ours_decoded(shards: Shards, *, shuffled: bool) -> int:
    """Read batches as training does."""
    column, rows = order_of(shards, shuffled=shuffled)
    return sum(len(column[rows[at : at + BATCH]]) for at in range(0, len(rows), BATCH))


def theirs_decoded(paths: Sequence[Path], *, shuffled: bool) -> int:
    """Make the same batches of webdataset's samples."""
    kind, read = pair_type((TARGET, TARGET, 3), CAPTION_BYTES), 0
    for sample in pipeline(paths, shuffled=shuffled):
        if read % BATCH == 0:
            batch = np.zeros(BATCH, kind)
        pair = batch[read % BATCH]
        with opened_image(sample["jpg"], str, "") as image:
            pair[IMAGE] = square(image, TARGET, resample=Image.Resampling.BICUBIC)
        pair[HAS_IMAGE] = 1
        text = " ".join(sample["txt"].decode("utf-8", "replace").split())
        pair[TEXT], pair[HAS_TEXT] = cut_text(text, CAPTION_BYTES), 1
        read += 1
    return read


def written(folder: Path, shards: int, samples: int, side: int) -> list[Path]:
    """Write shards; a few images are enough, since nobody compares them."""
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    images = []
    for _ in range(16):
        noise = Image.fromarray(rng.integers(0, 256, (side, side * 4 // 3, 3), np.uint8))
        sink = io.BytesIO()
        noise.filter(ImageFilter.GaussianBlur(1.5)).save(sink, "JPEG", quality=90)
        images.append(sink.getvalue())
    paths = []
    for number in range(shards):
        paths.append(folder / f"{number:08d}.tar")
        some = (
            {
                "__key__": f"{number:016x}{place:016x}-0",
                "jpg": images[(number + place) % len(images)],
                "txt": f"a caption of number {place} with a few more words".encode(),
                "json": b'{"uid": "x", "original_width": 640, "original_height": 480}',
            }
            for place in range(samples)
        )
        write_tar(paths[-1], some)
    return paths


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
