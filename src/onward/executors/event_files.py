"""Events that travel through files: of processes that share nothing but a file system."""

import pickle
import uuid
from pathlib import Path
from typing import BinaryIO

from onward.turns import Event, Watch


class EventWriter:
    """Writes events into a file of its own below a folder.

    A process that is started again has another writer, so an event that was cut off is the last one
    of its file.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / uuid.uuid4().hex

    def __call__(self, event: Event) -> None:
        """Write an event."""
        # Closed each time: only then do other machines see it, on a network file system.
        with self._path.open("ab") as file:
            file.write(pickle.dumps(event))


class EventReader:
    """Reads the events of all writers of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Path, BinaryIO] = {}

    def pass_on(self, watch: Watch) -> None:
        """Pass on what was written since the last time."""
        for path in sorted(self._folder.iterdir()):
            if path not in self._files:
                self._files[path] = path.open("rb")
            for event in _unread(self._files[path]):
                watch(event)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def _unread(file: BinaryIO) -> list[Event]:
    found = []
    while True:
        at = file.tell()
        try:
            found.append(pickle.load(file))
        except (EOFError, pickle.UnpicklingError):  # nothing more, or an event that is half written
            file.seek(at)
            return found
