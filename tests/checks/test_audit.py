import ctypes
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onward.checks.audit import Audit
from onward.checks.inotify import Inotify


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    np.save(folder / "points.npy", np.arange(3))
    pq.write_table(pa.table({"x": [1]}), folder / "deep" / "points.parquet")
    return folder


@pytest.fixture
def audit(data: Path) -> Iterator[Audit]:
    audit = Audit((data,))
    yield audit
    audit.close()


def names(audit: Audit) -> list[tuple[str, bool]]:
    return [(opened.path.name, opened.by_python) for opened in audit.opened]


def test_a_file_opened_through_python_is_noted_once(audit: Audit, data: Path) -> None:
    with audit.on("learning"):
        np.load(data / "points.npy")
        np.load(data / "points.npy")
    assert ("points.npy", True) in names(audit)
    assert names(audit).count(("points.npy", True)) == 1
    assert {opened.during for opened in audit.opened} == {"learning"}


def test_a_file_opened_past_python_is_noted(audit: Audit, data: Path) -> None:
    with audit.on("learning"):
        pq.read_table(data / "deep" / "points.parquet")
    assert names(audit) == [("points.parquet", False)]


def test_reading_a_file_that_was_opened_before_is_noted(audit: Audit, data: Path) -> None:
    with pa.OSFile(str(data / "points.npy")) as file:
        with audit.on("learning"):
            file.read(4)
        assert names(audit) == [("points.npy", False)]


def test_any_other_file_that_is_read_counts_too(audit: Audit, tmp_path: Path) -> None:
    """A log that is only written does not: what is written can be read back, which counts."""
    with audit.on("learning"):
        (tmp_path / "notes.txt").write_text("x")
    assert names(audit) == []
    with audit.on("predicting"):
        (tmp_path / "notes.txt").read_text()
    assert names(audit) == [("notes.txt", True)]


def test_nothing_is_noted_while_it_is_off_or_paused(audit: Audit, data: Path) -> None:
    np.load(data / "points.npy")
    with audit.on("learning"), audit.paused():
        np.load(data / "points.npy")
        pq.read_table(data / "deep" / "points.parquet")
    np.load(data / "points.npy")
    with audit.paused():
        np.load(data / "points.npy")
    with audit.on("predicting"):
        pass
    assert names(audit) == []


def test_what_was_opened_before_a_pause_is_kept(audit: Audit, data: Path) -> None:
    with audit.on("learning"):
        pq.read_table(data / "deep" / "points.parquet")
        with audit.paused():
            pass
    assert names(audit) == [("points.parquet", False)]


def test_code_and_the_system_do_not_count(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late_import.py").write_text("value = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with audit.on("learning"):
        importlib.import_module("late_import")
        os.urandom(1)
        Path("/dev/null").read_bytes()
        Path("/proc/self/stat").read_bytes()
        Path(np.__file__).with_name("py.typed").read_bytes()
    assert names(audit) == []


def test_packages_of_another_environment_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site-packages" / "some").mkdir(parents=True)
    (tmp_path / "site-packages" / "some" / "settings.json").write_text("{}")
    (tmp_path / "mine-1.0.dist-info").mkdir()
    (tmp_path / "mine-1.0.dist-info" / "entry_points.txt").write_text("")
    # Reached by a link, as in environments that are linked together.
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "site-packages").symlink_to(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(tmp_path / "linked" / "site-packages")
    audit = Audit(())
    with audit.on("learning"):
        (tmp_path / "linked" / "site-packages" / "some" / "settings.json").read_text()
        (tmp_path / "mine-1.0.dist-info" / "entry_points.txt").read_text()
    audit.close()
    assert names(audit) == []


def test_data_counts_even_where_packages_are_installed() -> None:
    folder = Path(np.__file__).parent
    audit = Audit((folder / "py.typed",))
    with audit.on("learning"):
        (folder / "py.typed").read_bytes()
    audit.close()
    assert ("py.typed", True) in names(audit)


def test_threads_that_ran_before_are_not_the_learners(tmp_path: Path) -> None:
    go, done = threading.Event(), threading.Event()
    for name in ("stranger.txt", "helper.txt"):
        (tmp_path / name).write_text("x")

    def stranger() -> None:
        go.wait()
        (tmp_path / "stranger.txt").read_text()
        done.set()

    thread = threading.Thread(target=stranger)
    thread.start()
    audit = Audit(())
    with audit.on("learning"):
        go.set()
        done.wait()
        helper = threading.Thread(target=(tmp_path / "helper.txt").read_text)
        helper.start()
        helper.join()
    thread.join()
    audit.close()
    assert names(audit) == [("helper.txt", True)]


def test_a_system_without_notifications_is_said(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **kwargs: object())
    audit = Audit((data,))
    assert "only Linux" in audit.note
    with audit.on("learning"):
        np.load(data / "points.npy")
    audit.close()
    assert names(audit) == [("points.npy", True)]


def test_what_cannot_be_watched_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Inotify((tmp_path / "nowhere",))
    assert missing.why_not == ""
    missing.close()
    (tmp_path / "here").write_text("x")

    class Full:
        def inotify_init1(self, flags: int) -> int:
            return os.open(tmp_path, os.O_RDONLY)

        def inotify_add_watch(self, handle: int, path: bytes, mask: int) -> int:
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **kwargs: Full())
    full = Inotify((tmp_path / "here",))
    assert "cannot watch" in full.why_not
    full.close()
