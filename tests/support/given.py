"""What the documentation takes for granted: a table of yours, a download, a file of weights."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from cifar_miniature import write_cifar
from clear_miniature import write_old
from coloured_clip import write_coloured_clip
from curated import images, pictures, pool, retrieved, votes
from your_tables import drawings, points

from onward.data.street.make import make_street

_METHOD = '''
from onward.methods.finetune import Finetune


class MyMethod(Finetune):
    """Finetune under another name."""


class Mine(Finetune):
    """Finetune under yet another name."""
'''


def _photos(path: Path) -> None:
    columns: dict[str, list[object]] = {"taken_at": [], "label": [], "path": [], "user": []}
    (path.parent / "pictures").mkdir()
    for number, (picture, label, day) in enumerate(drawings()):
        name = f"pictures/{number}.png"
        picture.save(path.parent / name)
        row = (day, label, name, f"person {number % 12}")
        for column, value in zip(columns, row, strict=True):
            columns[column].append(value)
    pq.write_table(pa.table(columns), path)


def _table(path: Path) -> None:
    made = points()
    named = {"taken_at": made["taken"], "label": made["kind"], "user": made["who"]}
    table = pa.table({**named, "x": made["x"], "y": made["y"]})
    pa.csv.write_csv(table, path)


def _plain_table(path: Path) -> None:
    made = points()
    days = [datetime(2018, 1, 1) + timedelta(days=6 * n) for n in range(len(made["x"]))]
    table = pa.table({"time": days, "label": made["kind"], "x": made["x"], "y": made["y"]})
    pa.csv.write_csv(table, path)


def _curation(path: Path) -> None:
    path.mkdir()
    shown = pictures()
    pq.write_table(votes(shown), path / "votes.parquet")
    retrieved(path / "retrieved", shown)
    pool(path / "pool", shown)
    images(path / "images", shown)


GIVEN: dict[str, Callable[[Path], object]] = {
    "photos.parquet": _photos,
    "table.csv": _table,
    "plain/table.csv": _plain_table,
    "curation": _curation,
    "my_method.py": lambda path: path.write_text(_METHOD),
    "epoch_10.pt": write_coloured_clip,
    "~/data/clear10": write_old,
    "~/data/cifar": write_cifar,
    "~/data/soda": lambda path: make_street(path, frames=60),
}
"""By the name that pages call it by; ``~`` is a folder of the test's own."""


def lay_out(names: str, here: Path, home: Path) -> None:
    """Write what a block takes for granted, unless it is there already."""
    for name in filter(None, (part.strip() for part in names.split(","))):
        path = home / name[2:] if name.startswith("~/") else here / Path(name).name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            GIVEN[name](path)
