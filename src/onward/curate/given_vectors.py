"""Vectors that somebody has computed already, in the forms that are usual.

* ``vectors.npy`` with ids beside it: ``vectors.parquet``, ``vectors.txt`` (one a line) or
  ``vectors.ids.npy``;
* a parquet file with a column of ids and a column of lists of numbers;
* a folder of such files;
* what clip-retrieval writes: ``img_emb/img_emb_0.npy`` and ``metadata/metadata_0.parquet``.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onward.binary_files import load_npy, read_parquet, reading_arrow, validated
from onward.curate.embed import PART_ROWS, Loaded, Part
from onward.curate.store import mapped_array
from onward.errors import OnwardError
from onward.table import Array

_ID_COLUMNS = ("id", "key", "uid", "image_id", "image_path")
_WAYS = (".parquet", ".txt", ".ids.npy")


@dataclass(frozen=True)
class GivenFile:
    """A file of vectors, and the file with their ids if it is another one."""

    path: Path
    ids: Path | None = None

    @property
    def name(self) -> str:
        """What its shard is called."""
        return self.path.stem


def given_files(place: Path, ids: Path | None = None) -> list[GivenFile]:
    """Return the files of vectors at a place, or say what is missing.

    Parameters
    ----------
    place
        A file, or a folder.
    ids
        The ids of one .npy file, where they are not beside it.
    """
    if place.is_file():
        found = [_with_ids(place, ids) if place.suffix == ".npy" else GivenFile(place)]
    elif (place / "img_emb").is_dir():
        found = [_of_clip_retrieval(place, path) for path in sorted(place.glob("img_emb/*.npy"))]
    elif place.is_dir():
        arrays = [p for p in sorted(place.glob("*.npy")) if not p.name.endswith(".ids.npy")]
        taken = [_with_ids(path, None) for path in arrays]
        beside = {one.ids for one in taken}
        tables = [p for p in sorted(place.glob("*.parquet")) if p not in beside]
        found = [*taken, *(GivenFile(path) for path in tables)]
    else:
        found = []
    strange = [one.path for one in found if one.path.suffix not in (".npy", ".parquet")]
    if not found or strange:
        raise OnwardError(
            "expected vectors as .npy with ids beside it, as .parquet, or a folder of them, found "
            f"{f'the file {strange[0]}' if strange else f'none at {place}'}"
        )
    if ids is not None and (len(found) > 1 or found[0].path.suffix != ".npy"):
        raise OnwardError(f"expected --ids with one .npy file, found {place} with it")
    _require_one_width(found)
    return found


def given_parts(files: Sequence[GivenFile], rows: int = PART_ROWS) -> Iterator[Part]:
    """Yield the vectors of files as parts of so many rows at most."""
    for file in files:
        array = file.path.suffix == ".npy"
        total = len(_mapped(file.path)) if array else _rows_in(file.path)
        pieces = _of_array(file, rows) if array else _of_table(file.path, rows)
        for number, piece in enumerate(pieces):
            name = file.name if total <= rows else f"{file.name}-{number:05d}"
            yield Part(name, partial(_itself, piece))


def _rows_in(path: Path) -> int:
    with reading_arrow(path, "a parquet file at", "Write it again"):
        return int(pq.read_metadata(path).num_rows)


def _itself(loaded: Loaded) -> Loaded:
    return loaded


def given_digest(files: Sequence[GivenFile]) -> str:
    """Return what tells these files from others: names, sizes and times."""
    digest = hashlib.sha256()
    for path in [path for file in files for path in (file.path, file.ids) if path is not None]:
        state = path.stat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _with_ids(path: Path, ids: Path | None) -> GivenFile:
    beside = [path.with_name(path.stem + way) for way in _WAYS]
    found = ids or next((one for one in beside if one.is_file()), None)
    if found is None or not found.is_file():
        wanted = str(ids) if ids else " or ".join(one.name for one in beside)
        raise OnwardError(
            f"expected the ids of {path} in {wanted}, found none. Give them with --ids FILE"
        )
    return GivenFile(path, found)


def _of_clip_retrieval(place: Path, path: Path) -> GivenFile:
    number = path.stem.removeprefix("img_emb_")
    return _with_ids(path, place / "metadata" / f"metadata_{number}.parquet")


def _require_one_width(files: Sequence[GivenFile]) -> None:
    widths: dict[int, Path] = {}
    for path in [file.path for file in files if file.path.suffix == ".npy"]:
        widths.setdefault(_mapped(path).shape[1], path)
    if len(widths) > 1:
        told = ", ".join(f"{width:,} numbers in {path.name}" for width, path in widths.items())
        raise OnwardError(f"expected vectors of one width, found {told}")


def _mapped(path: Path) -> Array:
    array = mapped_array(path)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise OnwardError(
            f"expected vectors (rows, width) of floats in {path}, found {array.dtype} of the shape "
            f"{array.shape}"
        )
    return array


def _of_array(file: GivenFile, rows: int) -> Iterator[Loaded]:
    array, ids = _mapped(file.path), _ids(file.ids or file.path)
    if len(ids) != len(array):
        raise OnwardError(
            f"expected an id in {file.ids} for each of the {len(array):,} vectors of {file.path}, "
            f"found {len(ids):,}"
        )
    for first in range(0, max(len(array), 1), rows):
        yield Loaded(ids[first : first + rows], np.asarray(array[first : first + rows]))


def _ids(path: Path) -> list[str]:
    try:
        if path.suffix == ".npy":
            found = load_npy(path, "ids in", "Write it again with numpy.save")
            return [str(one) for one in found.ravel().tolist()]
        if path.suffix == ".txt":
            return path.read_text("utf-8").splitlines()
        names = pq.read_schema(path).names
        column = _id_column(names, path)
        return _texts(read_parquet(path, [column], expected="ids in").column(0), column, path)
    except (OSError, ValueError) as error:
        raise OnwardError(f"expected ids in {path}, found what cannot be read ({error})") from error


def _id_column(names: Sequence[str], path: Path) -> str:
    named = next((one for one in _ID_COLUMNS if one in names), None)
    if named is None and len(names) != 1:
        raise OnwardError(
            f"expected a column {', '.join(_ID_COLUMNS[:-1])} or {_ID_COLUMNS[-1]} in {path}, "
            f"found {', '.join(names)}"
        )
    return named or names[0]


def _texts(column: Any, name: str, path: Path) -> list[str]:
    found = column.to_pylist()
    if None in found:
        raise OnwardError(
            f"expected an id in each row of {path}, found none in row {found.index(None):,}"
        )
    # The path of a file is no id; its name without its ending is, as everywhere here.
    return [Path(one).stem if name == "image_path" else str(one) for one in found]


def _of_table(path: Path, rows: int) -> Iterator[Loaded]:
    try:
        yield from _rows_of_table(path, rows)
    except (OSError, ValueError) as error:
        raise OnwardError(
            f"expected a parquet file at {path}, found what cannot be read as one ({error})"
        ) from error


def _rows_of_table(path: Path, rows: int) -> Iterator[Loaded]:
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        lists = [field.name for field in schema if _is_vector(field.type)]
        if len(lists) != 1:
            raise OnwardError(
                f"expected one column with lists of floats in {path}, found "
                f"{', '.join(lists) or 'none'} among {', '.join(schema.names)}"
            )
        column = _id_column([name for name in schema.names if name not in lists], path)
        for batch in file.iter_batches(rows, columns=[column, lists[0]]):
            table = validated(pa.Table.from_batches([batch]))
            ids = _texts(table.column(column), column, path)
            yield Loaded(ids, _vectors(table.column(lists[0]).combine_chunks(), path))


def _is_vector(kind: Any) -> bool:
    nested = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(one(kind) for one in nested) and pa.types.is_floating(kind.value_type)


def _vectors(column: Any, path: Path) -> Array:
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    there = ~np.isnan(lengths.astype(np.float64))
    widths = np.unique(lengths[there])
    if len(widths) > 1:
        told = " and ".join(f"{int(width):,}" for width in widths[:2])
        raise OnwardError(f"expected vectors of one width in {path}, found {told} numbers")
    # What is not there has no direction, and will be counted as such.
    found = np.full((len(column), int(widths[0]) if len(widths) else 1), np.nan, np.float32)
    values = column.drop_null().flatten().to_numpy(zero_copy_only=False)
    found[there] = values.reshape(int(there.sum()), -1)
    return found
