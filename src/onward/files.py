"""Writing so that a crash, a full disk or a second process never leaves half a file."""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from onward.errors import LockWarning, StorageError

_REASONS = {
    errno.ENOSPC: "the disk is full. Free some space",
    errno.EDQUOT: "the disk quota is used up. Free some space",
    errno.EFBIG: "the file would be larger than allowed here. Choose another place",
    errno.EACCES: "permission denied. Choose a folder that you may write to",
    errno.EPERM: "permission denied. Choose a folder that you may write to",
    errno.EROFS: "the file system is read-only. Choose another folder",
    errno.ENOTDIR: "part of the path is a file, not a folder. Choose another folder",
    errno.EEXIST: "part of the path is a file, not a folder. Choose another folder",
}


@contextlib.contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write into a message that says what to do."""
    try:
        yield
    except OSError as error:
        other = f"{error.strerror or error}. Choose another folder"
        reason = _REASONS.get(error.errno or 0, other)
        raise StorageError(
            f"cannot write {path}: {reason} and run the same command again; it goes on where it "
            "stopped, and nothing already written is lost"
        ) from error


def write_atomic(path: Path, content: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file that is there whole or not at all, and that survives a power cut.

    Its folder is made if needed. The content may be a function that writes into an open file. What
    is there and is no file, such as a device, stays; a link stays a link.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise StorageError(
            f"cannot write {path}: expected a file, or nothing, found something else there. Choose "
            "another name"
        )
    make_folder(path.parent)
    draft = _draft(path)
    try:
        with draft.open("xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def publish_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside `path`, then give it its name: it is there whole or not at all."""
    make_folder(path.parent)
    draft = _draft(path)
    try:
        draft.mkdir()
        fill(draft)
        for folder, _, names in os.walk(draft):
            for name in names:
                with (Path(folder) / name).open("rb") as file:
                    os.fsync(file.fileno())
            sync_folder(Path(folder))
        draft.rename(path)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    sync_folder(path.parent)


def replace_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside `path`, then let it take the place of what is there.

    What was there stays until the new one is whole, and is then removed.
    """
    fresh = _draft(path)
    publish_folder(fresh, fill)
    old = _draft(path)
    try:
        if path.exists():
            path.rename(old)
        fresh.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    sync_folder(path.parent)
    shutil.rmtree(old, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, each durable in the one above it."""
    if not path.is_dir():
        if path.parent != path:
            make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def remove_drafts(folder: Path) -> None:
    """Remove what a killed process had begun to write directly below a folder."""
    for path in folder.glob(".*"):
        if _DRAFT.fullmatch(path.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


_DRAFT = re.compile(r"\..+\.[0-9a-f]{8}")


def _draft(path: Path) -> Path:
    """Return a free name beside a path; what is made there has the permissions of any new file."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


def sync_folder(folder: Path) -> None:
    """Make the names inside a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock that the system releases when the process ends, however it ends.

    `on_wait` is called once if another process holds it, before waiting for that one. Warns with
    `LockWarning` where the file system grants the same lock to a second process.
    """
    make_folder(path.parent)
    # Where locks belong to the process, closing any handle releases them: `second` stays open.
    with path.open("a") as file, path.open("a") as second:
        problem = None
        try:
            _lock(file, on_wait)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            problem = "has no locks"
        else:
            if _granted_twice(second):
                problem = "grants the same lock twice"
        if problem is not None:
            warnings.warn(
                f"locks in {path.parent} do nothing: its file system {problem}. Write this folder "
                "from one process at a time, or choose a file system that supports flock",
                LockWarning,
                stacklevel=3,
            )
        yield


# What `flock` raises on file systems that are mounted without it.
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)


def _lock(file: IO[str], on_wait: Callable[[], None]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait()
        fcntl.flock(file, fcntl.LOCK_EX)


def _granted_twice(second: IO[str]) -> bool:
    """Return whether another process could lock a file that this process has locked.

    Most file systems refuse a second lock to the same process already. Some refuse it to other
    processes only, so where this process gets it, another one tries.
    """
    try:
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    command = [sys.executable, "-I", "-S", "-c", _TRY_LOCK, second.name]
    return subprocess.run(command, check=False).returncode == 0


_TRY_LOCK = """
import fcntl, sys
with open(sys.argv[1], "a") as file:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(1)
"""


def file_digest(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
