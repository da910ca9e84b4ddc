"""Tables of yours: CSV, JSON lines, parquet, a Hugging Face dataset on disk, a folder of photos."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from onward.binary_files import not_utf8, read_parquet, reading_arrow, validated
from onward.data.hugging_face import is_hugging_face, name_classes, read_hugging_face
from onward.data.photo_folder import PHOTOS, list_photos
from onward.data.read_files import require_shallow
from onward.errors import OnwardError

_COMPRESSED = (".gz", ".bz2", ".zst")
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# Empty cells and these words are missing numbers; "nan" is a number that is none, and is refused.
_MISSING = ["", "NA", "N/A", "null", "NULL"]
_HEAD = 1 << 16
_FIX = "Is it what its name says?"
# Objects of JSON lines may be as long as an embedding of some thousand numbers.
_JSON_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class FileTable:
    """What was found: its rows as they are, and in which format.

    ``root`` is where paths inside the table begin. ``photos`` says that the table was made from a
    folder of photos, so that its columns are known.
    """

    rows: pa.Table
    format: str
    root: Path
    photos: bool = False


def read_file(path: Path, texts: Collection[str] = ()) -> FileTable:
    """Read a table.

    It is a file, a folder of parquet files, a dataset saved by Hugging Face, or a folder of photos.
    `texts` are the columns to read as texts where the format has no types: a label ``01`` is not 1.
    """
    if path.is_dir():
        found = _read_folder(path)
    elif path.is_file():
        found = _read_one(path, texts)
    else:
        raise OnwardError(
            f"expected a table or a folder at {path}, found nothing. Is the path right, seen from "
            f"{Path.cwd()}?"
        )
    if not found.rows.num_rows:
        raise OnwardError(f"expected rows in {path}, found none. Write the table again")
    return found


def _read_one(path: Path, texts: Collection[str]) -> FileTable:
    kind = next(s for s in (*reversed(path.suffixes), "") if s not in _COMPRESSED).lower()
    if not path.stat().st_size:
        raise OnwardError(f"expected a table in {path}, found an empty file. Write it again")
    with reading_arrow(path, f"{kind[1:]} in", _FIX):
        if kind in (".csv", ".tsv", ".txt"):
            rows, said = _read_csv(path, texts)
        elif kind in (".jsonl", ".ndjson", ".json"):
            rows, said = _read_json(path), "JSON lines"
        elif kind in (".parquet", ".pq"):
            rows, said = _read_parquet(path), "parquet"
        else:
            raise OnwardError(
                f"expected a file named .csv, .tsv, .jsonl, .ndjson, .json or .parquet, or a "
                f"folder, found {path.name}. Save the table in one of these formats"
            )
    return FileTable(rows, said, path.parent)


def _read_folder(path: Path) -> FileTable:
    if is_hugging_face(path):
        return FileTable(*read_hugging_face(path), root=path)
    files = sorted(file for file in path.rglob("*.parquet") if file.is_file())
    if files:
        try:
            parts = [_read_parquet(file) for file in files]
            rows = pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise OnwardError(
                f"expected parquet files with the same columns in {path}, found what does not fit "
                f"together ({str(error).splitlines()[0]})"
            ) from error
        return FileTable(rows, f"{len(files)} parquet files", path)
    photos = list_photos(path)
    if not photos.num_rows:
        raise OnwardError(
            f"expected parquet files, a dataset saved by Hugging Face, or photos "
            f"({', '.join(sorted(PHOTOS))}) in {path}, found none of these"
        )
    return FileTable(photos, "folder of photos", path, photos=True)


def _read_parquet(path: Path) -> pa.Table:
    return name_classes(read_parquet(path, expected="parquet in", fix=_FIX), path)


def _read_csv(path: Path, texts: Collection[str]) -> tuple[pa.Table, str]:
    separator = find_separator(path)
    reading = {
        "read_options": pa.csv.ReadOptions(block_size=1 << 22),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(texts, pa.string()), null_values=_MISSING
        ),
    }
    try:
        plain = pa.csv.ParseOptions(delimiter=separator)
        rows = pa.csv.read_csv(path, parse_options=plain, **reading)
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise not_utf8(path, error) from error
        # Texts that go over several lines are rarer and slower to read: tried second.
        lines = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        rows = pa.csv.read_csv(path, parse_options=lines, **reading)
    names = _names(path, rows)
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise OnwardError(
            f"expected every column of {path} to have a name of its own, found {doubled[0]!r} "
            "twice. Rename one of them"
        )
    for name in names:
        # What is no UTF-8 is read as bytes.
        if pa.types.is_binary(rows.column(name).type):
            raise not_utf8(path, f"in column {name!r}")
    return rows, f"CSV, {_SEPARATORS[separator]}"


def _names(path: Path, rows: pa.Table) -> list[str]:
    try:
        return list(rows.column_names)
    except UnicodeDecodeError as error:
        raise not_utf8(path, "in the names of the columns") from error


def find_separator(path: Path) -> str:
    """Return what separates the columns: what the first line has most of."""
    with pa.input_stream(path) as stream:
        head = stream.read(_HEAD)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise OnwardError(
            f"expected a text in UTF-8 in {path}, found one in UTF-16. Save it with the encoding "
            "UTF-8"
        )
    if b"\0" in head:
        raise OnwardError(
            f"expected a text in {path}, found a binary file. Is it what its name says?"
        )
    line = head.splitlines()[0] if head.strip() else b""
    return max(_SEPARATORS, key=lambda separator: line.count(separator.encode()))


def _read_json(path: Path) -> pa.Table:
    with pa.input_stream(path) as stream:
        head = stream.read(_HEAD).lstrip()
    with pa.input_stream(path) as stream:
        require_shallow(path, iter(lambda: stream.read(_JSON_BLOCK), b""))
    if head.startswith(b"["):
        try:
            with pa.input_stream(path) as stream:
                return validated(pa.Table.from_pylist(json.loads(stream.read())))
        except (ValueError, AttributeError, TypeError) as error:
            raise OnwardError(
                f"expected JSON lines, or a list of objects, in {path}, found neither ({error})"
            ) from error
    return validated(pa.json.read_json(path, pa.json.ReadOptions(block_size=_JSON_BLOCK)))
