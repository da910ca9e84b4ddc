"""Metadata for tests, in the formats that people have."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

COLUMNS = 25


def yfcc_line(
    id: str,
    uploaded: str,
    taken: str = "2004-02-03 04:05:06.0",
    *,
    marker: str = "0",
    title: str = "A+title",
    url: str | None = None,
) -> str:
    """Return a line with YFCC100M's 25 columns."""
    fields = [
        "7", id, "0a1b2c", "12@N00", "Ren%C3%A9", taken, uploaded, "Canon", title, "", "a,b", "",
        "4.2", "52.1", "16", f"http://flickr.example/{id}", url or f"http://img.example/{id}.jpg",
        "Attribution License", "http://creativecommons.example/by", "1", "2", "s", "o", "jpg",
        marker,
    ]  # fmt: skip
    assert len(fields) == COLUMNS
    return "\t".join(fields)


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def rows_of(pool: Path, bucket: int | None = None) -> pa.Table:
    """Return the rows of a pool, or of one bucket, in the order of its files."""
    below = pool / "rows" / ("*" if bucket is None else f"{bucket:02d}")
    files = sorted(below.parent.glob(f"{below.name}/*.parquet"))
    return pa.concat_tables(ds.dataset(file).to_table() for file in files)


def dropped_of(pool: Path) -> list[tuple[str | None, str]]:
    """Return id and reason of what was dropped, sorted."""
    files = sorted((pool / "dropped").glob("*.parquet"))
    rows = [row for file in files for row in ds.dataset(file).to_table().to_pylist()]
    return sorted(
        ((row["id"], row["reason"]) for row in rows), key=lambda pair: (str(pair[0]), pair[1])
    )
