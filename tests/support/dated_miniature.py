"""A folder as ``onward curate date`` leaves it, and images of its pairs: noise that is all alike in
no two of them, but where a test says so."""

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from onward.curate.records import DATED
from onward.curate.stage import making
from onward.data.chosen_pairs import write_tar

YEARS = (2014, 2015, 2016)
EACH = 20


def uid(name: str) -> str:
    """Return an id."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def pair(name: str, year: int, caption: str | None = None, month: int = 3) -> dict[str, Any]:
    """Return a row."""
    when = datetime(year, month, 1, tzinfo=UTC)
    told = {"id": uid(name), "time": when, "url": f"http://images.example/{name}.png"}
    said = f"picture number {name}" if caption is None else caption
    return told | {"caption": said, "width": 48, "height": 40}


def pairs(years: Sequence[int] = YEARS, each: int = EACH) -> list[dict[str, Any]]:
    """Return as many rows of each year, in three of its months."""
    return [pair(f"{y}-{n}", y, month=1 + 4 * (n % 3)) for y in years for n in range(each)]


def drawn(seed: int, size: tuple[int, int] = (48, 40)) -> Image.Image:
    """Return coarse noise."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (8, 9, 3), np.uint8))
    return small.resize(size, Image.Resampling.NEAREST)


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    """Return an image as a file."""
    sink = io.BytesIO()
    image.save(sink, kind)
    return sink.getvalue()


def write_dated(folder: Path, rows: Sequence[Mapping[str, Any]], kind: str = "date") -> Path:
    """Write a folder, a bucket for each year, in two parts."""
    years = sorted({row["time"].year for row in rows})
    buckets = []
    with making(folder, kind, {"rows": len(rows)}) as made:
        for bucket, year in enumerate(years):
            mine = [row for row in rows if row["time"].year == year]
            mine.sort(key=lambda row: (row["time"], row["id"]))
            buckets.append({"name": str(year), "rows": len(mine)})
            half = len(mine) // 2
            for number, some in enumerate((mine[:half], mine[half:])):
                path = folder / "rows" / f"{bucket:02}" / f"{number:05}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.Table.from_pylist(list(some), DATED), path)
        made.finish({"rows": len(rows), "kept": len(rows), "buckets": buckets})
    return folder


def write_images(
    folder: Path, rows: Sequence[Mapping[str, Any]], other: Mapping[str, bytes] | None = None
) -> Path:
    """Write tars with an image for each row; those of `other` ids are given, none if empty."""
    folder.mkdir()
    held = dict(other or {})
    samples = []
    for number, row in enumerate(rows):
        content = held.get(row["id"], encoded(drawn(number)))
        if content:
            told = f'{{"id": "{row["id"]}"}}'.encode()
            samples.append({"__key__": f"{number:09}", "png": content, "json": told})
    for number, start in enumerate(range(0, len(samples), 25)):
        write_tar(folder / f"{number:05}.tar", samples[start : start + 25])
    return folder


def stopping(after: int) -> Callable[..., Any]:
    """Return what watches a stage and interrupts it after so many things."""
    seen = 0

    @contextlib.contextmanager
    def watch(total: int, what: str, verb: str) -> Iterator[Callable[[int], None]]:
        def step(done: int) -> None:
            nonlocal seen
            seen += done
            if seen >= after:
                raise KeyboardInterrupt

        yield step

    return watch
