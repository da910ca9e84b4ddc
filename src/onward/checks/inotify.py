"""Linux's notifications of file access: they also see readers that are not written in Python."""

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

_ACCESS, _OPEN, _IS_FOLDER = 0x1, 0x20, 0x40000000
_HEADER = struct.Struct("iIII")


class Inotify:
    """Watches files and folders, with all folders below, for being opened or read.

    It sees every process: another program that reads the same files is noticed too. It does not
    see pages read through a memory map that was made before. What does not exist is left out.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        # The number of watches is limited by the system: one for a folder serves its files.
        self._watched: dict[int, Path] = {}
        self.why_not = ""
        self._handle = -1
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "inotify_init1"):
            self.why_not = "only Linux tells who reads a file outside Python"
            return
        self._handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            self.why_not = f"no notifications of file access: {os.strerror(ctypes.get_errno())}"
            return
        for path in paths:
            below = [p for p in path.rglob("*") if p.is_dir()] if path.is_dir() else []
            for one in [path, *below]:
                number = libc.inotify_add_watch(self._handle, os.fsencode(one), _ACCESS | _OPEN)
                if number >= 0:
                    self._watched[number] = one
                elif one.exists():
                    self.why_not = f"cannot watch {one}: {os.strerror(ctypes.get_errno())}"

    def read(self) -> list[Path]:
        """Return the files that were opened or read since the last call, each once."""
        found: dict[Path, None] = {}
        while chunk := self._chunk():
            offset = 0
            while offset < len(chunk):
                number, mask, _, length = _HEADER.unpack_from(chunk, offset)
                offset += _HEADER.size + length
                name = chunk[offset - length : offset].rstrip(b"\0")
                if not mask & _IS_FOLDER and number in self._watched:
                    found[self._watched[number] / os.fsdecode(name)] = None
        return list(found)

    def close(self) -> None:
        """Watch no more."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _chunk(self) -> bytes:
        if self._handle < 0:
            return b""
        try:
            return os.read(self._handle, 65536)
        except BlockingIOError:
            return b""
