"""Columns of texts out of files of metadata, a block at a time, and the lines that have none."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

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
_MORE = {"yfcc": (MARKER,), "img2dataset": (STATUS,)}


def blocks(path: Path, layout: Layout, start: int, stop: int) -> Iterator[tuple[Texts, Faults]]:
    """Yield what stands between two places of a file, see `onward.curate.reading.Piece`."""
    wanted = {**layout.chosen, **{name: name for name in _MORE.get(layout.format, ())}}
    if layout.kind == "parquet":
        yield from _parquet(path, wanted, start, stop)
        return
    ranged = not (layout.packed or goes_over_lines(layout))
    lines = _range(path, start, stop) if ranged else _whole(path, quoted=goes_over_lines(layout))
    for number, block in enumerate(lines):
        first = number == 0 and start == 0
        if first:
            block = block.removeprefix(b"\xef\xbb\xbf")
        if layout.kind == "lines":
            yield _json_lines(block, wanted)
            continue
        if first and layout.format != "yfcc":
            block = block.partition(b"\n")[2]
        if block.strip():
            yield _delimited(block, layout, wanted)


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


def _range(path: Path, start: int, stop: int) -> Iterator[bytes]:
    """Yield the lines that begin in a range of bytes."""
    with path.open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()
        here = file.tell()
        if here < stop:
            block = file.read(stop - here)
            yield block if block.endswith(b"\n") else block + file.readline(_LONGEST_LINE)


def _whole(path: Path, *, quoted: bool) -> Iterator[bytes]:
    """Yield all lines of a file that can only be read from its beginning."""
    rest = b""
    with pa.input_stream(path) as stream:
        while more := stream.read(BLOCK_BYTES):
            block = rest + more
            cut = _last_end(block, quoted=quoted)
            if cut < 0 and len(block) > _LONGEST_LINE:
                raise OnwardError(
                    f"expected lines in {path}, found {len(block) >> 20} MB without an end of "
                    "line outside quotes. Is a quote never closed?"
                )
            if cut >= 0:
                yield block[: cut + 1]
            rest = block[cut + 1 :]
    if rest:
        yield rest


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


def _delimited(block: bytes, layout: Layout, wanted: dict[str, str]) -> tuple[Texts, Faults]:
    faults: Faults = []
    place = layout.names.index(wanted["id"])

    def note(row: Any) -> str:
        values = next(csv.reader([row.text or ""], delimiter=layout.separator), [])
        few = row.actual_columns < row.expected_columns
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
    )
    for size, content in ((_PARSED_BYTES, block), (0, b"")):
        # The second time for a line longer than usual, or for bytes that are no text.
        faults.clear()
        if not size:
            content = block.decode("utf-8", "replace").encode()
        reading = pacsv.ReadOptions(
            column_names=list(layout.names), block_size=size or len(content) + 1
        )
        try:
            table = pacsv.read_csv(pa.BufferReader(content), reading, parsing, converting)
            break
        except pa.ArrowInvalid:
            if not size:
                raise
    return {name: table.column(column) for name, column in wanted.items()}, sorted(
        faults, key=lambda fault: (fault[0] or "", fault[1])
    )


def _json_lines(block: bytes, wanted: dict[str, str]) -> tuple[Texts, Faults]:
    held: dict[str, list[str | None]] = {name: [] for name in wanted}
    faults: Faults = []
    for line in block.splitlines():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            faults.append((None, NO_JSON))
            continue
        for name, column in wanted.items():
            held[name].append(_plain(row.get(column)))
    return {name: pa.chunked_array([pa.array(v, pa.string())]) for name, v in held.items()}, faults


def _plain(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _parquet(
    path: Path, wanted: dict[str, str], start: int, stop: int
) -> Iterator[tuple[Texts, Faults]]:
    columns = list(dict.fromkeys(wanted.values()))
    with pq.ParquetFile(path) as file:
        groups = list(range(start, stop))
        for batch in file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=columns):
            table = pa.table(batch)
            yield {name: table.column(column) for name, column in wanted.items()}, []
