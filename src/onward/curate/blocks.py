"""Columns of texts out of files of metadata, a block at a time, and the lines that have none."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from onward.binary_files import parquet_tables
from onward.curate.metadata import Layout
from onward.errors import OnwardError

Texts = dict[str, pa.ChunkedArray]
"""Columns by the name that a pool has for them; of parquet they may be other than texts."""

Faults = list[tuple[str | None, str]]
"""Lines that are no rows: an id, where one could be seen, and what is wrong."""

TOO_FEW, TOO_MANY, NO_JSON = "too few columns", "too many columns", "not a JSON object"
MARKER, STATUS = "marker", "status"
"""What is read beside the columns of a pool: YFCC100M's marker, and img2dataset's status."""

BLOCK_BYTES = 64 << 20
_LONGEST_LINE = 64 << 20
_PARSED_BYTES = 4 << 20
_BATCH_ROWS = 1 << 17
_MARK = b"\xef\xbb\xbf"
_MORE = {"yfcc": (MARKER,), "img2dataset": (STATUS,)}


def blocks(path: Path, layout: Layout, start: int, stop: int) -> Iterator[tuple[Texts, Faults]]:
    """Yield what stands between two places of a file, see `onward.curate.reading.Piece`."""
    wanted = {**layout.chosen, **{name: name for name in _MORE.get(layout.format, ())}}
    if layout.kind == "parquet":
        yield from _parquet(path, wanted, start, stop)
        return
    header = layout.kind == "delimited" and layout.format != "yfcc"
    if layout.packed or goes_over_lines(layout):
        found = _whole(path, header=header, quoted=goes_over_lines(layout))
    else:
        found = _range(path, start, stop, header=header)
    for block in found:
        if layout.kind == "lines":
            yield _json_lines(block, wanted)
        elif block.size:
            yield _delimited(path, block, layout, wanted)


def goes_over_lines(layout: Layout) -> bool:
    """Whether texts may stand in quotes, with ends of lines in them."""
    return layout.kind == "delimited" and layout.separator != "\t"


def row_groups(path: Path, size: int) -> list[int]:
    """Return after which row groups a parquet file is cut into parts of about this many bytes."""
    found = pq.read_metadata(path)
    stops, held = [], 0
    for number in range(found.num_row_groups):
        held += found.row_group(number).total_byte_size
        if held >= size or number + 1 == found.num_row_groups:
            stops.append(number + 1)
            held = 0
    return stops


def _range(path: Path, start: int, stop: int, *, header: bool) -> Iterator[pa.Buffer]:
    """Yield the lines that begin in a range of bytes, where they lie."""
    with path.open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline(_LONGEST_LINE)
        else:
            file.seek(len(_MARK) if file.read(len(_MARK)) == _MARK else 0)
            if header:
                file.readline(_LONGEST_LINE)
        first = file.tell()
        file.seek(stop - 1)
        file.readline(_LONGEST_LINE)
        last = file.tell()
    if first < last:
        with pa.memory_map(str(path)) as mapped:
            mapped.seek(first)
            yield mapped.read_buffer(last - first)


def _whole(path: Path, *, header: bool, quoted: bool) -> Iterator[pa.Buffer]:
    """Yield all lines of a file that can only be read from its beginning."""
    rest, begun = b"", False
    with pa.input_stream(path) as stream:
        while more := stream.read(BLOCK_BYTES):
            block = rest + more
            if not begun:
                block = block.removeprefix(_MARK)
                block = block.partition(b"\n")[2] if header else block
                begun = True
            cut = _last_end(block, quoted=quoted)
            if cut < 0 and len(block) > _LONGEST_LINE:
                raise OnwardError(
                    f"expected lines in {path}, found {len(block) >> 20} MB without an end of "
                    "line outside quotes. Is a quote never closed?"
                )
            if cut >= 0:
                yield pa.py_buffer(block[: cut + 1])
            rest = block[cut + 1 :]
    if rest:
        yield pa.py_buffer(rest)


def _last_end(block: bytes, *, quoted: bool) -> int:
    """Return where the last line ends that is followed by another: not inside of quotes."""
    cut = block.rfind(b"\n")
    if quoted:
        # A block begins outside of quotes, so that an even number of them closes all.
        quotes = block.count(b'"', 0, max(cut, 0))
        while cut >= 0 and quotes % 2:
            earlier = block.rfind(b"\n", 0, cut)
            quotes -= block.count(b'"', max(earlier, 0), cut)
            cut = earlier
    return cut


def _delimited(
    path: Path, block: pa.Buffer, layout: Layout, wanted: dict[str, str]
) -> tuple[Texts, Faults]:
    faults: Faults = []
    ended = False
    place = layout.names.index(wanted["id"]) if "id" in wanted else len(layout.names)
    # A line that is no row, put behind all others: whoever does not come to it is inside a quote
    # that was never closed, and would leave out what stands there without a word.
    end = layout.separator * len(layout.names)

    def note(row: Any) -> str:
        nonlocal ended
        if row.text == end:
            ended = True
            return "skip"
        few = row.actual_columns < row.expected_columns
        try:
            values = next(csv.reader([row.text or ""], delimiter=layout.separator), [])
        except csv.Error:
            values = []
        known = values[place] if place < len(values) else None
        faults.append((known, TOO_FEW if few else TOO_MANY))
        return "skip"

    columns = list(dict.fromkeys(wanted.values()))
    quoted = goes_over_lines(layout)
    parsing = pacsv.ParseOptions(
        delimiter=layout.separator,
        quote_char='"' if quoted else False,
        newlines_in_values=quoted,
        invalid_row_handler=note,
    )
    converting = pacsv.ConvertOptions(
        include_columns=columns,
        column_types=dict.fromkeys(columns, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        check_utf8=False,
    )
    names = list(layout.names)
    block = _text(block)
    if quoted:
        block = pa.py_buffer(block.to_pybytes() + f"\n{end}\n".encode())
    try:
        # One thread: another piece is read at the same time, and both together are faster.
        reading = pacsv.ReadOptions(column_names=names, block_size=_PARSED_BYTES, use_threads=False)
        table = pacsv.read_csv(pa.BufferReader(block), reading, parsing, converting)
    except pa.ArrowInvalid:
        # A line longer than usual.
        faults.clear()
        reading = pacsv.ReadOptions(column_names=names, block_size=block.size + 1)
        table = pacsv.read_csv(pa.BufferReader(block), reading, parsing, converting)
    if quoted and not ended:
        # Where rows are not named by an id, their first column names them as well as any.
        named = table.column(wanted.get("id", next(iter(wanted.values()))))
        known = [*named[-1:].to_pylist(), *(one for one, _ in faults)]
        where = str(known[0]).splitlines()[0][:80]
        raise OnwardError(
            f"expected every quote in {path} to be closed, found one that is not, about the row "
            f"{where!r}. Close it, or write two where a text has one"
        )
    return {name: table.column(column) for name, column in wanted.items()}, sorted(
        faults, key=lambda fault: (fault[0] or "", fault[1])
    )


def _text(block: pa.Buffer) -> pa.Buffer:
    """Return a block in UTF-8; what is none of it becomes question marks in diamonds."""
    ends = pa.py_buffer(np.array([0, block.size], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, block]).validate(full=True)
    except pa.ArrowInvalid:
        return pa.py_buffer(block.to_pybytes().decode("utf-8", "replace").encode())
    return block


def _json_lines(block: pa.Buffer, wanted: dict[str, str]) -> tuple[Texts, Faults]:
    held: dict[str, list[str | None]] = {name: [] for name in wanted}
    faults: Faults = []
    for line in block.to_pybytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            faults.append((None, NO_JSON))
            continue
        for name, column in wanted.items():
            held[name].append(_plain(row.get(column)))
    return {name: pa.chunked_array([pa.array(v, pa.string())]) for name, v in held.items()}, faults


def _plain(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # JSON can spell halves of letters, which no file can hold.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _parquet(
    path: Path, wanted: dict[str, str], start: int, stop: int
) -> Iterator[tuple[Texts, Faults]]:
    columns = list(dict.fromkeys(wanted.values()))
    for table in parquet_tables(path, _BATCH_ROWS, columns, groups=range(start, stop)):
        yield {name: table.column(column) for name, column in wanted.items()}, []
