"""Which files are opened for reading while a learner learns or predicts.

A learner is given all it may see; a file it opens is a way around that. Python's own audit hook
reports what is opened through Python. Arrow's readers and other compiled libraries open files
past it, so the benchmark's files are also watched by the system.

What neither sees: a memory map made before the call, and data copied into the learner before the
run. The first is found by `onward.checks.reachable`, the second by nobody but a reader of the
code.
"""

import contextlib
import os
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onward.checks.inotify import Inotify

_CODE = (".py", ".pyc", ".pyi", ".so", ".pth", ".dll", ".dylib")
_SYSTEM = tuple(map(Path, ("/proc", "/dev", "/sys", "/etc", "/usr/share/zoneinfo")))
_PACKAGES, _METADATA = ("site-packages", "dist-packages"), (".dist-info", ".egg-info")


@dataclass(frozen=True)
class Opened:
    """A file that was opened: when, and whether Python saw it or only the system."""

    path: Path
    during: str
    by_python: bool


class Audit:
    """Notes which files are opened while it is on.

    Threads that ran before it was made are not the learner's, and do not count. The data's `files`
    count wherever they are, and are watched by the system.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.opened: list[Opened] = []
        self._files = tuple(path.resolve() for path in files)
        self._system = Inotify(self._files)
        self.note = self._system.why_not if files else ""
        self._during: str | None = None
        # The threads themselves: the number of one that has ended is given to the next.
        self._strangers = set(threading.enumerate()) - {threading.current_thread()}
        # Python opens an archive among the places it imports from, whether it is there or not.
        self._searched = {Path(os.path.realpath(place)) for place in sys.path}
        self._harmless_places = (*_SYSTEM, *_installed())

    @contextlib.contextmanager
    def on(self, during: str) -> Iterator[None]:
        """Note what is opened here."""
        _install()
        self._system.read()
        self._switch(during)
        try:
            yield
        finally:
            self._switch(None)
            self._collect(during)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Let the loop, or a column that lies on disk, do its own work in between."""
        during = self._during
        if during is None:
            yield
            return
        self._switch(None)
        self._collect(during)
        try:
            yield
        finally:
            self._system.read()
            self._switch(during)

    def close(self) -> None:
        """Watch no more."""
        self._system.close()

    def _switch(self, during: str | None) -> None:
        global _active
        self._during = during
        _active = self if during is not None else None

    def _collect(self, during: str) -> None:
        seen = {(one.path, one.during) for one in self.opened}
        self.opened += [
            Opened(path, during, by_python=False)
            for path in self._system.read()
            if (path, during) not in seen
        ]

    def _note(self, opened: Any, flags: Any) -> None:
        during = self._during
        if during is None or threading.current_thread() in self._strangers:
            return
        if not isinstance(opened, str | bytes | os.PathLike):
            return  # a file that is open already, by its number
        path = Path(os.path.realpath(os.fsdecode(opened)))
        one = Opened(path, during, by_python=True)
        # What is only written, such as a log, tells the learner nothing; reading it later does.
        written = isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY
        if not written and not self._harmless(path) and one not in self.opened:
            self.opened.append(one)

    def _harmless(self, path: Path) -> bool:
        if any(path.is_relative_to(place) for place in self._files):
            return False
        return (
            path.suffix in _CODE
            or path.parent.suffix in _METADATA  # catalogues ask which packages add to them
            or path in self._searched
            or any(path.is_relative_to(place) for place in self._harmless_places)
        )


def _installed() -> set[Path]:
    """Return where Python and its packages are, as one environment may use those of another."""
    paths = sysconfig.get_paths()
    places = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    places += [*site.getsitepackages(), site.getusersitepackages()]
    places += [place for place in sys.path if Path(place).name in _PACKAGES]
    return {Path(os.path.realpath(place)) for place in places}


_active: Audit | None = None
_hooked = False


def _install() -> None:
    # An audit hook can never be removed, so there is one, which does nothing while none is on.
    global _hooked
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _active is not None:
        _active._note(arguments[0], arguments[2])
