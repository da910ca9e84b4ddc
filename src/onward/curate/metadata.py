"""Files of metadata: which there are, how each is written, and which of its columns are wanted.

YFCC100M's files have tabs, no header and texts in the encoding of URLs; the first edition has 23
columns, the later one 25. What img2dataset writes is parquet with a status. Everything else is a
table with names: CSV, TSV, JSON lines or parquet.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onward.binary_files import reading_arrow
from onward.data.yours_files import find_separator
from onward.errors import OnwardError, first_few

FORMATS = ("yfcc", "img2dataset", "table")
WITHOUT = "none"
"""What is typed instead of a column's name if a column is not to be used."""

_YFCC_FIRST = (
    "id", "user", "author", "taken", "uploaded", "device", "title", "caption", "tags",
    "machine_tags", "longitude", "latitude", "accuracy", "page", "url", "licence", "licence_url",
    "server", "farm", "secret", "secret_original", "extension", "marker",
)  # fmt: skip
_YFCC = {
    len(names): names for names in (_YFCC_FIRST, ("line", _YFCC_FIRST[0], "hash", *_YFCC_FIRST[1:]))
}
_IMG2DATASET = {"key", "url", "status"}
# Under which names a table may have what is wanted, if nobody said.
USUAL: Mapping[str, Sequence[str]] = {
    "id": ("id", "photo_id", "image_id", "key", "uid"),
    "time": ("time", "uploaded", "timestamp", "date"),
    "taken": (),
    "url": ("url", "URL", "download_url", "image_url"),
    "page": ("page", "page_url"),
    "author": ("author", "user", "creator"),
    "title": ("title",),
    "caption": ("caption", "text", "TEXT", "description"),
    "licence": ("licence", "license"),
    "licence_url": ("licence_url", "license_url"),
}
_ENDINGS = {
    ".csv": "delimited", ".tsv": "delimited", ".txt": "delimited", "": "delimited",
    ".jsonl": "lines", ".ndjson": "lines", ".json": "lines", ".parquet": "parquet",
}  # fmt: skip
_COMPRESSED = (".gz", ".bz2", ".zst")
_HEAD = 1 << 20


@dataclass(frozen=True)
class Layout:
    """How a file of metadata is written.

    Parameters
    ----------
    format
        One of `FORMATS`.
    kind
        ``delimited``, ``lines`` (of JSON) or ``parquet``.
    names
        All columns; of JSON lines those of the first object.
    chosen
        The column that each column of a pool is read from.
    separator
        What stands between two columns.
    packed
        Whether the file is compressed, and can only be read from its beginning.
    """

    format: str
    kind: str
    names: tuple[str, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    separator: str = ""
    packed: bool = False


def metadata_files(given: Sequence[Path]) -> list[Path]:
    """Return the files that were meant: files, folders of them, or patterns with ``*``."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] not in "._")
        elif path.exists():
            inside = [path]
        else:
            inside = sorted(p for p in path.parent.glob(path.name) if p.is_file())
        if not inside:
            raise OnwardError(f"expected a file, or a folder of files, of metadata, found {path}")
        found += inside
    twice = next((path for path in found if found.count(path) > 1), None)
    if twice is not None:
        raise OnwardError(f"expected every file of metadata once, found {twice} twice")
    return found


def layout_of(
    path: Path,
    format: str | None,
    asked: Mapping[str, str],
    usual: Mapping[str, Sequence[str]] = USUAL,
    needed: Sequence[str] = ("id", "time"),
) -> Layout:
    """Look into a file.

    Parameters
    ----------
    path
        The file.
    format
        One of `FORMATS`; None to see for oneself.
    asked
        The columns that somebody named, by the column of a pool that they are for.
    usual
        What is wanted, and under which names it may be there.
    needed
        What has to be there.
    """
    endings = [s.lower() for s in path.suffixes if s.lower() in {*_ENDINGS, *_COMPRESSED}]
    packed = bool(endings) and endings[-1] in _COMPRESSED
    kind = _ENDINGS[next((s for s in reversed(endings) if s not in _COMPRESSED), "")]
    if not path.stat().st_size:
        raise OnwardError(f"expected rows of metadata in {path}, found an empty file")
    if kind == "parquet":
        layout = Layout("table", kind, _parquet_names(path))
    elif kind == "lines":
        layout = Layout("table", kind, _json_names(path), packed=packed)
    else:
        layout = _delimited(path, packed=packed)
    if layout.kind == "parquet" and set(layout.names) >= _IMG2DATASET:
        layout = Layout("img2dataset", kind, layout.names)
    if format not in (None, layout.format) and not (
        format == "table" and layout.format == "img2dataset"
    ):
        raise OnwardError(
            f"expected metadata in the format {format} in {path}, found {layout.format} with "
            f"{len(layout.names)} columns ({first_few(layout.names)})"
        )
    chosen = _choose(path, layout, asked, usual, needed)
    return Layout(
        format or layout.format, layout.kind, layout.names, chosen, layout.separator, packed
    )


def _delimited(path: Path, *, packed: bool) -> Layout:
    head = _head(path)
    line = head.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8-sig", "replace")
    values = line.split("\t")
    if len(values) in _YFCC and values[-1] in ("0", "1"):
        return Layout("yfcc", "delimited", _YFCC[len(values)], separator="\t", packed=packed)
    separator = find_separator(path)
    names = tuple(next(csv.reader([line], delimiter=separator), ()))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OnwardError(
            f"expected a first line in {path} that names every column, found {twice!r} twice"
        )
    return Layout("table", "delimited", names, separator=separator, packed=packed)


def _head(path: Path) -> bytes:
    try:
        with pa.input_stream(path) as stream:
            return bytes(stream.read(_HEAD))
    except OSError as error:
        raise OnwardError(
            f"expected metadata in {path}, found what cannot be read ({error}). Is it whole, and "
            "compressed as its name says?"
        ) from error


def _json_names(path: Path) -> tuple[str, ...]:
    line = _head(path).lstrip().split(b"\n", 1)[0]
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise OnwardError(f"expected JSON lines in {path}, found {line[:60]!r}") from error
    if not isinstance(found, dict):
        raise OnwardError(f"expected an object on each line of {path}, found {line[:60]!r}")
    return tuple(found)


def _parquet_names(path: Path) -> tuple[str, ...]:
    with reading_arrow(path, "parquet in", "Is it what its name says?"):
        return tuple(pq.read_schema(path).names)


def _choose(
    path: Path,
    layout: Layout,
    asked: Mapping[str, str],
    usual: Mapping[str, Sequence[str]],
    needed: Sequence[str],
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name in usual:
        if name in asked:
            if asked[name] == WITHOUT:
                continue
            if asked[name] not in layout.names:
                raise _no_column(path, layout, name, asked[name])
            chosen[name] = asked[name]
        elif layout.format == "yfcc":
            own = "uploaded" if name == "time" else name
            chosen |= {name: own} if own in layout.names else {}
        else:
            keyed = (name, layout.format, usual) == ("id", "img2dataset", USUAL)
            names = ("key",) if keyed else usual[name]
            found = next((column for column in names if column in layout.names), None)
            if found is not None:
                chosen[name] = found
    for name in needed:
        if name not in chosen:
            raise _no_column(path, layout, name, None)
    return chosen


def _no_column(path: Path, layout: Layout, name: str, asked: str | None) -> OnwardError:
    wanted = f"a column {asked!r}" if asked else f"a column for the {name} of an image"
    return OnwardError(
        f"expected {wanted} in {path}, found {', '.join(layout.names)}. Name it with "
        f"--{name.replace('_', '-')}-column"
    )
