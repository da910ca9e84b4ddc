"""Writes that fail: nothing is lost, and the run goes on afterwards."""

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from stopped_runs import Interrupt, Plain, run_tiny, snapshot, stop_at

from onward.budget import Budget
from onward.errors import StorageError
from onward.results.read import find_folders
from onward.types import View


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 256 KiB; needs the right to mount."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_that_fills_up_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(small_disk, watch=stop_at("tested", 1))
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb") as file:
        file.write(b"x" * 512 * 1024)
    (folder,) = find_folders(small_disk)
    before = snapshot(folder)
    with pytest.raises(StorageError, match="the disk is full"):
        run_tiny(small_disk)
    kept = snapshot(folder)
    for name in before:
        # More may be appended to these two.
        appended = name in ("log.jsonl", "training.jsonl")
        assert kept[name].startswith(before[name]) if appended else kept[name] == before[name]
    ballast.unlink()
    again, whole = run_tiny(small_disk), run_tiny(tmp_path / "whole")
    assert (again / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
def test_any_write_may_fail_and_the_run_goes_on_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    whole = run_tiny(tmp_path / "whole")
    fsync, calls = os.fsync, 0
    finished = 0
    tries = 12
    for fail_at in range(0, 17 * tries, 17):
        out = tmp_path / f"{fail_at}"
        calls = 0

        def failing(handle: int, fail_at: int = fail_at) -> None:
            nonlocal calls
            calls += 1
            if calls > fail_at:
                raise OSError(number, os.strerror(number))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", failing)
        with contextlib.suppress(StorageError):
            run_tiny(out)
            finished += 1
        monkeypatch.setattr(os, "fsync", fsync)
        assert (run_tiny(out) / "scores.jsonl").read_bytes() == (
            whole / "scores.jsonl"
        ).read_bytes()
        assert not [path for path in out.rglob(".*") if path.name != ".lock"]
    assert 0 < finished < tries - 3


def test_a_learners_own_error_is_not_blamed_on_the_results(tmp_path: Path) -> None:
    class Rude(Plain):
        def learn(self, view: View, budget: Budget) -> None:
            raise PermissionError(errno.EACCES, "my own file")

    with pytest.raises(PermissionError, match="my own file"):
        run_tiny(tmp_path, Rude)


def test_a_disk_that_fills_up_inside_a_checkpoint(tmp_path: Path) -> None:
    for kilobytes in (48, 64, 80, 96, 112):
        place = tmp_path / f"{kilobytes}"
        place.mkdir()
        size = f"size={kilobytes}k"
        mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("mounting a small file system is not allowed here")
        try:
            with contextlib.suppress(StorageError):
                run_tiny(place)
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
