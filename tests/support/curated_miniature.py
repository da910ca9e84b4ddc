"""A pool of coloured pictures in two buckets, and a small CLIP's store of them."""

import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from task_folders import COLOURS, picture

from onward.curate.records import POOL
from onward.curate.stage import Stage, making, open_stage

BUCKETS = 2


def names(bucket: int, each: int) -> list[str]:
    return [f"{colour}_{bucket}_{number}" for colour in COLOURS for number in range(each)]


def write_pool(out: Path, each: int, extra: Mapping[int, list[str]] | None = None) -> Stage:
    """Write a pool of so many pictures of each colour and bucket, and further ids."""
    with making(out, "pool", {}) as folder:
        for bucket in range(BUCKETS):
            ids = names(bucket, each) + (extra or {}).get(bucket, [])
            nothing = {field.name: pa.nulls(len(ids), field.type) for field in POOL}
            table = pa.table({**nothing, "id": ids}, schema=POOL)
            place = folder.folder / "rows" / f"{bucket:02d}"
            place.mkdir(parents=True)
            pq.write_table(table, place / "00000.parquet")
        folder.finish({})
    return open_stage(out, "pool")


def write_pictures(folder: Path, each: int) -> Path:
    """Write the pictures, one folder a bucket."""
    for bucket in range(BUCKETS):
        place = folder / str(bucket)
        place.mkdir(parents=True)
        for at, name in enumerate(names(bucket, each)):
            (place / f"{name}.png").write_bytes(picture(name.partition("_")[0], 100 * bucket + at))
    return folder


def write_tar(path: Path, members: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as file:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            file.addfile(entry, BytesIO(content))
    return path


def write_vectors(path: Path, rows: int, width: int, seed: int = 0) -> np.ndarray:
    held = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    np.save(path, held)
    return held
