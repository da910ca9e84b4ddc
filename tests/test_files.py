import errno
import os
from pathlib import Path

import pytest

from onward import files
from onward.errors import LockWarning, StorageError
from onward.files import locked, publish_folder, storage, write_atomic


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_atomic(path, b"first")

    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomic(path, fail)
    assert path.read_bytes() == b"first"
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]


def test_new_files_have_ordinary_permissions(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "file", b"x")
        publish_folder(tmp_path / "folder", lambda draft: None)
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o755


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def fail(draft: Path) -> None:
        (draft / "half").write_text("x")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        publish_folder(tmp_path / "c", fail)
    assert list(tmp_path.iterdir()) == []
    publish_folder(tmp_path / "c", lambda draft: (draft / "whole").mkdir())
    assert (tmp_path / "c" / "whole").is_dir()


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="expected a file"):
        write_atomic(pipe, b"x")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_refusal_of_the_system_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="is a file, not a folder"), storage(tmp_path):
        write_atomic(tmp_path / "file" / "below", b"")


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    link = tmp_path / "page.html"
    link.symlink_to(tmp_path / "store" / "page.html")
    for content in (b"first", b"second"):
        write_atomic(link, content)
        assert link.is_symlink()
        assert (tmp_path / "store" / "page.html").read_bytes() == content
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["page.html"]


def test_a_lock_that_works_gives_no_warning(tmp_path: Path) -> None:
    with locked(tmp_path / ".lock", lambda: None):
        pass


def test_a_lock_that_does_nothing_gives_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a file system whose flock always succeeds, in this process and in any other.
    monkeypatch.setattr(files.fcntl, "flock", lambda file, operation: None)
    with (
        pytest.warns(LockWarning, match=r"locks .* do nothing.*one process at a time"),
        locked(tmp_path / ".lock", lambda: None),
    ):
        pass


def test_a_lock_that_excludes_other_processes_only_gives_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on NFS, where one process may lock a file twice and another process may not.
    flock, first = files.fcntl.flock, []

    def flock_once(file: object, operation: int) -> None:
        if not first:
            flock(file, operation)
        first.append(file)

    monkeypatch.setattr(files.fcntl, "flock", flock_once)
    with locked(tmp_path / ".lock", lambda: None):
        pass
    assert len(first) > 1


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_file_system_without_flock_gives_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(file: object, operation: int) -> None:
        raise OSError(number, "no locks")

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with pytest.warns(LockWarning, match="has no locks"), files.locked(tmp_path / "lock", print):
        pass
