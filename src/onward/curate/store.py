"""Directions by id: a folder of arrays that are mapped into memory, with who they are beside them.

A shard is ``<name>.npy`` of float16 (rows, width) and ``<name>.parquet`` with
`onward.curate.records.EMBEDDED`, row by row. Rows are counted through all shards, which stand in
the order of their names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onward.binary_files import load_npy, read_parquet
from onward.errors import OnwardError
from onward.table import Array, Rows


@dataclass(frozen=True, eq=False)
class Store:
    """Directions and whose they are.

    Parameters
    ----------
    arrays
        One per shard, (rows, width).
    tables
        The parquet file of each shard; None where there is none: an id is then the row's number.
    """

    arrays: Sequence[Array]
    tables: Sequence[Path | None]

    @classmethod
    def open(cls, place: Path) -> "Store":
        """Open what ``onward curate embed`` wrote, or one plain .npy file of anybody."""
        place = Path(place)
        if place.is_dir():
            files = [path for path in sorted(place.glob("*.npy")) if path.is_file()]
        else:
            files = [place] if place.is_file() else []
        if not files:
            raise OnwardError(
                f"expected a folder of onward curate embed, or a .npy file, found none at {place}"
            )
        opened = [(_mapped(path), path) for path in files]
        filled = [(array, path) for array, path in opened if len(array)] or opened[:1]
        widths = {array.shape[1]: path for array, path in filled}
        if len(widths) > 1:
            told = ", ".join(f"{width} in {path.name}" for width, path in widths.items())
            raise OnwardError(f"expected directions of one width in {place}, found {told}")
        tables = [path.with_suffix(".parquet") for _, path in filled]
        return cls(
            [array for array, _ in filled], [one if one.is_file() else None for one in tables]
        )

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def width(self) -> int:
        """How many numbers a direction has."""
        return int(self.arrays[0].shape[1])

    @cached_property
    def starts(self) -> Rows:
        """The row at which each shard begins; the last number is that of all rows."""
        return np.cumsum([0, *map(len, self.arrays)], dtype=np.int64)

    @cached_property
    def buckets(self) -> Array:
        """The bucket of each row, -1 where it has none."""
        return np.concatenate(
            [
                np.full(len(array), -1, np.int32)
                if path is None
                else self._column(at, path, "bucket").to_numpy()
                for at, (array, path) in enumerate(zip(self.arrays, self.tables, strict=True))
            ]
        )

    def ids(self, rows: Rows) -> list[str]:
        """Return the ids of these rows, in this order."""
        found = np.array([str(row) for row in rows.tolist()], object)
        for at, places in self._by_shard(rows):
            path = self.tables[at]
            if path is not None:
                within = pa.array(rows[places] - self.starts[at])
                found[places] = self._column(at, path, "id").take(within).to_pylist()
        return list(found)

    @cached_property
    def _every_id(self) -> pa.Array:
        return pa.array(self.ids(np.arange(len(self))), pa.string())

    def of(self, ids: pa.Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the directions of these ids as float32, and which of them have one.

        Of an id that several rows have, it is that of the first.
        """
        rows = pc.index_in(ids.cast(pa.string()), self._every_id)
        there = np.asarray(rows.is_valid())
        found = np.zeros((len(ids), self.width), np.float32)
        found[there] = self.take(rows.drop_null().to_numpy())
        return found, there

    def take(self, rows: Rows) -> Array:
        """Return the directions of these rows, in this order, as they are stored."""
        found = np.empty((len(rows), self.width), np.result_type(*self.arrays))
        for at, places in self._by_shard(rows):
            found[places] = self.arrays[at][rows[places] - self.starts[at]]
        return found

    def _by_shard(self, rows: Rows) -> list[tuple[int, Rows]]:
        """Return the shards that these rows lie in, and which of them are there."""
        owner = np.searchsorted(self.starts, rows, "right") - 1
        return [(int(at), np.flatnonzero(owner == at)) for at in np.unique(owner)]

    def _column(self, at: int, path: Path, name: str) -> Any:
        table, rows = read_parquet(path, [name], fix="Make the store again"), len(self.arrays[at])
        if table.num_rows != rows:
            raise OnwardError(
                f"expected a row in {path} for each of the {rows:,} directions beside it, found "
                f"{table.num_rows:,}. Make the store again"
            )
        return table.column(name)


def as_store(held: Any) -> Store:
    """Return a store as it is, open the one at a path, or take an array for one."""
    if isinstance(held, Store):
        return held
    if isinstance(held, str | Path):
        return Store.open(Path(held))
    array = np.asarray(held)
    _require_directions(array, "the store")
    return Store([array if array.flags.writeable else np.asarray(_Shown(array))], [None])


class _Shown:
    """An array that may only be read, for torch, which warns of such though nobody writes."""

    def __init__(self, array: Array) -> None:
        self._array = array
        place, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (place, False)}


def _mapped(path: Path) -> Array:
    # Pages are shared until they are written to, which nobody does; torch dislikes arrays that
    # cannot be.
    array = mapped_array(path, "c")
    _require_directions(array, str(path))
    return array


def mapped_array(path: Path, mode: Literal["r", "c"] = "r") -> Array:
    """Map the array of a .npy file into memory, or say that there is none."""
    return load_npy(path, "an array in", "Write it again with numpy.save", mmap_mode=mode)


def _require_directions(array: Array, where: str) -> None:
    if array.ndim != 2 or array.dtype.kind != "f" or not array.shape[1]:
        raise OnwardError(
            f"expected directions (rows, width) of float16 or float32 in {where}, found "
            f"{array.dtype} of the shape {array.shape}"
        )
