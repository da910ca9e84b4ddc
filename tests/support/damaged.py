"""Files with one kind of damage each, as editors, copies and full disks leave them."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

LATIN = "café".encode("latin-1")


def latin_column(count: int) -> pa.Array:
    """Return strings whose bytes are Latin-1, which Arrow takes without a look."""
    buffers = pa.array([LATIN + str(n).encode() for n in range(count)], pa.binary()).buffers()
    return pa.StringArray.from_buffers(count, buffers[1], buffers[2])


def corrupt_offset(path: Path, values: Sequence[str]) -> None:
    """Let the second offset of a string column with these values point far outside the file."""
    right = pa.array(values).buffers()[1].to_pybytes()[: 4 * (len(values) + 1)]
    content = path.read_bytes()
    at = content.index(right)
    path.write_bytes(content[: at + 4] + struct.pack("<i", 1 << 30) + content[at + 8 :])
