"""Small dated tables, as people have them, and photos written from the emoji history."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from PIL import Image

from onward.data.emoji_history import load_emoji

ROWS, YEARS = 240, 4
COLUMNS = {"time_column": "taken", "label_column": "kind"}
_FIRST = datetime(2018, 1, 1)


def points(rows: int = ROWS, seed: int = 0) -> dict[str, list[Any]]:
    """Return drifting points over four years; a third class arrives with the second year."""
    rng = np.random.default_rng(seed)
    days = np.sort(rng.integers(0, 365 * YEARS, rows))
    kinds = [("low", "high", "odd")[rng.integers(3 if day >= 365 else 2)] for day in days]
    place = np.array([("low", "high", "odd").index(kind) for kind in kinds])
    return {
        "taken": [(_FIRST + timedelta(days=int(day), hours=7)).isoformat() for day in days],
        "kind": kinds,
        "x": (place + rng.normal(0, 0.4, rows)).round(4).tolist(),
        "y": (days / 700 + rng.normal(0, 0.4, rows)).round(4).tolist(),
        "who": [f"person {number}" for number in rng.integers(0, 40, rows)],
    }


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]] | None = None) -> Path:
    """Write columns as a CSV; None is an empty cell."""
    table = pa.table({name: pa.array(values) for name, values in (columns or points()).items()})
    pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="needed"))
    return path


def drawings(count: int = 96) -> list[tuple[Image.Image, str, datetime]]:
    """Return emoji of four snapshots and three groups: picture, label and date."""
    table = load_emoji()
    snapshot, label = table.values("snapshot"), table.values("label")
    found = []
    for year, number in enumerate((1, 3, 5, 7)):
        for kind in ("food", "flags", "animals"):
            rows = np.flatnonzero((snapshot == number) & (label == kind))[: count // 12]
            for place, pixels in enumerate(table.wide["image"][rows]):
                day = _FIRST + timedelta(days=365 * year + place)
                found.append((Image.fromarray(pixels), kind, day))
    return found


def write_photos(folder: Path) -> Path:
    """Write a table of photos with paths; the pictures are in a folder beside it."""
    columns: dict[str, list[Any]] = {"taken": [], "kind": [], "path": []}
    (folder / "photos").mkdir(parents=True)
    for number, (picture, kind, day) in enumerate(drawings()):
        name = f"photos/{number}.png"
        picture.save(folder / name)
        for column, value in zip(columns, (day, kind, name), strict=True):
            columns[column].append(value)
    pq.write_table(pa.table(columns), folder / "photos.parquet")
    return folder / "photos.parquet"


def write_hugging_face(folder: Path, rows: pa.Table, features: Mapping[str, Any]) -> Path:
    """Write what `datasets.Dataset.save_to_disk` writes."""
    folder.mkdir(parents=True)
    told = json.dumps({"info": {"features": features}})
    rows = rows.replace_schema_metadata({"huggingface": told})
    half = rows.num_rows // 2
    names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(names, (rows.slice(0, half), rows.slice(half)), strict=True):
        with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, rows.schema) as w:
            w.write_table(part)
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    return folder
