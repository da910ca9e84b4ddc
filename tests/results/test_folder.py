import contextlib
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tamper import Tamperer

import onward
from onward.budget import Budget
from onward.checks.tiny import tiny_benchmark
from onward.errors import DamagedFolderError, OnwardError, StorageError
from onward.results import folder as folder_module
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.record import load_record
from onward.turns import Event
from onward.types import View


class Interrupt(Exception):
    """Stands for whatever ends a process."""


def _stop_at(kind: str, period: int) -> Any:
    def watch(event: Event) -> None:
        if event.kind == kind and event.period == period:
            raise Interrupt

    return watch


def _run(out: Path, method: Any = "er", **options: Any) -> Path:
    path = onward.run(tiny_benchmark(), method, seed=0, out=out, **options).path
    assert path is not None
    return path


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_folder_holds_what_the_schema_says(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    names = set(_snapshot(folder))
    assert {"spec.json", "env.json", "scores.jsonl", "cost.json", "log.jsonl"} <= names
    assert {f"predictions/{i:03d}.parquet" for i in range(4)} <= names
    assert folder == tmp_path / "tiny" / "er" / load_record(folder).spec.hash
    assert check_folder(folder) == []
    record = load_record(folder)
    assert record.cost is not None
    assert record.cost.samples > record.cost.iterations > 0
    assert record.cost.macs > 0
    assert record.cost.stored_samples > 0
    assert record.cost.stored_bytes == record.cost.stored_samples * 8 * 4
    assert (tmp_path / "tiny" / "stream").is_dir()


def test_same_seed_same_bytes_other_seed_other_folder(tmp_path: Path) -> None:
    one, other = (_run(tmp_path / name) for name in ("a", "b"))
    for name in ("spec.json", "scores.jsonl", "predictions/003.parquet"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    onward.run(tiny_benchmark(), "er", seed=1, out=tmp_path / "a")
    assert len(list(find_folders(tmp_path / "a"))) == 2


@pytest.mark.parametrize("kind", ["learning", "learned", "tested"])
@pytest.mark.parametrize("period", range(4))
@pytest.mark.parametrize("method", ["er", "cumulative", "nap"])
def test_a_stopped_run_ends_with_the_same_bytes(
    tmp_path: Path, method: str, kind: str, period: int
) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path / "stopped", method, watch=_stop_at(kind, period))
    stopped, whole = _run(tmp_path / "stopped", method), _run(tmp_path / "whole", method)
    for name in ("scores.jsonl", *(f"predictions/{i:03d}.parquet" for i in range(4))):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
    assert check_folder(stopped) == []
    first, second = load_record(stopped).cost, load_record(whole).cost
    assert first is not None
    assert second is not None
    assert (first.samples, first.iterations) == (second.samples, second.iterations)


class Plain:
    """A learner that cannot be saved."""

    def __init__(self) -> None:
        self.seen = 0

    def learn(self, view: View, budget: Budget) -> None:
        self.seen += len(view)

    def predict(self, view: View) -> np.ndarray:
        return np.full(len(view), self.seen % len(view.classes))


def test_a_learner_without_save_is_replayed_and_the_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path / "stopped", Plain, watch=_stop_at("tested", 1))
    kinds: list[str] = []
    stopped = _run(tmp_path / "stopped", Plain, watch=lambda event: kinds.append(event.kind))
    assert kinds.count("learned") == 4
    assert kinds.count("tested") == 2
    assert "replayed" in kinds
    assert "replayed" in (stopped / "log.jsonl").read_text()
    whole = _run(tmp_path / "whole", Plain)
    assert (stopped / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


def test_the_same_spec_again_does_nothing_and_says_so(tmp_path: Path) -> None:
    before = _snapshot(_run(tmp_path))
    kinds: list[str] = []
    after = _snapshot(_run(tmp_path, watch=lambda event: kinds.append(event.kind)))
    assert after == before
    assert kinds == ["done before"]


def _committed(folder: Path) -> list[str]:
    return [*json.loads((folder / "manifest.json").read_text())["files"], "manifest.json"]


def test_a_damaged_byte_in_any_file_is_found_and_nothing_is_changed(tmp_path: Path) -> None:
    whole = _run(tmp_path / "whole")
    for name in _committed(whole):
        copy = tmp_path / "copy" / name.replace("/", "-") / whole.name
        shutil.copytree(whole, copy)
        content = bytearray((copy / name).read_bytes())
        for place in (0, len(content) // 2, len(content) - 1):
            content[place] ^= 0x04
        (copy / name).write_bytes(bytes(content))
        before = _snapshot(copy)
        problems = check_folder(copy)
        assert problems, name
        assert name in problems[0].problem
        assert _snapshot(copy) == before


def test_a_damaged_folder_is_refused_for_going_on(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path, watch=_stop_at("tested", 2))
    (folder,) = find_folders(tmp_path)
    names = _committed(folder)
    names += [name for name in _snapshot(folder) if name.startswith("checkpoint/")]
    for name in names:
        good = (folder / name).read_bytes()
        bad = bytearray(good)
        bad[len(bad) // 2] ^= 0x04
        (folder / name).write_bytes(bytes(bad))
        before = _snapshot(folder)
        with pytest.raises(DamagedFolderError):
            _run(tmp_path)
        after = {k: v for k, v in _snapshot(folder).items() if k != "log.jsonl"}
        assert after == {k: v for k, v in before.items() if k != "log.jsonl"}
        (folder / name).write_bytes(good)
    _run(tmp_path)


def test_a_newer_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 99}))
    before = _snapshot(folder)
    for use in (lambda: load_record(folder), lambda: _run(tmp_path)):
        with pytest.raises(OnwardError, match="newer Onward"):
            use()
    assert "newer Onward" in check_folder(folder)[0].problem
    assert _snapshot(folder) == before


def test_a_score_that_was_changed_with_its_hash_is_found(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    lines = (folder / "scores.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    first["scores"]["accuracy"] = 0.99
    (folder / "scores.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    mark = folder_module.mark(folder, "scores.jsonl")
    manifest["files"]["scores.jsonl"] = mark.model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (finding,) = check_folder(folder)
    assert "0.99" in finding.problem
    assert "the stored decisions give" in finding.problem


def test_a_run_that_leaves_no_folder_has_its_decisions_all_the_same(tmp_path: Path) -> None:
    passing, lasting = (
        onward.run(tiny_benchmark(), "nap", seed=0, out=out) for out in (None, tmp_path)
    )
    assert passing.path is None
    np.testing.assert_array_equal(passing.class_matrix()[0], lasting.class_matrix()[0])


def test_a_renamed_folder_is_found(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    renamed = folder.rename(folder.with_name("0" * 16))
    assert "expected the folder name" in check_folder(renamed)[0].problem


def test_a_folder_of_before_a_field_was_there_keeps_its_name(tmp_path: Path) -> None:
    mine = Tamperer(_run(tmp_path / "run"), tmp_path)
    mine.change_file("spec.json", lambda spec: spec.pop("tuned"))
    spec = json.loads((mine.folder / "spec.json").read_text())
    said = json.dumps(spec, separators=(",", ":"), ensure_ascii=False)
    name = hashlib.sha256(said.encode()).hexdigest()[:16]
    mine.folder = mine.folder.rename(mine.folder.with_name(name))
    mine.redo_manifest()
    assert check_folder(mine.folder) == []


def test_predictions_can_be_left_out(tmp_path: Path) -> None:
    folder = _run(tmp_path, keep_predictions=False)
    assert not (folder / "predictions").exists()
    (finding,) = check_folder(folder)
    assert "its scores cannot be computed again" in finding.problem
    with pytest.raises(OnwardError, match="kept no predictions"):
        load_record(folder).class_matrix()


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
        _run(small_disk, watch=_stop_at("tested", 1))
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb") as file:
        file.write(b"x" * 512 * 1024)
    (folder,) = find_folders(small_disk)
    before = _snapshot(folder)
    with pytest.raises(StorageError, match="the disk is full"):
        _run(small_disk)
    kept = _snapshot(folder)
    assert {name: kept[name] for name in before if name != "log.jsonl"} == {
        name: before[name] for name in before if name != "log.jsonl"
    }
    ballast.unlink()
    again, whole = _run(small_disk), _run(tmp_path / "whole")
    assert (again / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
def test_any_write_may_fail_and_the_run_goes_on_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    whole = _run(tmp_path / "whole")
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
            _run(out)
            finished += 1
        monkeypatch.setattr(os, "fsync", fsync)
        assert (_run(out) / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()
        assert not [path for path in out.rglob(".*") if path.name != ".lock"]
    assert 0 < finished < tries - 3


_TWIN = """
import json, sys
import onward
from onward.checks.tiny import tiny_benchmark

kinds = []
onward.run(tiny_benchmark(), "er", out=sys.argv[1], watch=lambda event: kinds.append(event.kind))
print(json.dumps(kinds))
"""


def test_two_processes_share_the_work_of_one_spec(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TWIN, str(tmp_path)]
    twins = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    kinds = [json.loads(twin.communicate()[0]) for twin in twins]
    assert sorted(found.count("tested") for found in kinds) == [0, 4]
    assert ["done before"] in [[kind for kind in found if kind != "waiting"] for found in kinds]
    (folder,) = find_folders(tmp_path)
    assert check_folder(folder) == []


def test_results_without_their_manifest_are_refused_and_left_alone(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    (folder / "manifest.json").unlink()
    before = _snapshot(folder)
    with pytest.raises(DamagedFolderError, match=r"expected a manifest\.json"):
        _run(tmp_path)
    assert _snapshot(folder) == before
    assert "manifest" in check_folder(folder)[0].problem


def test_a_lost_row_is_found_and_not_papered_over(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path, watch=_stop_at("tested", 2))
    (folder,) = find_folders(tmp_path)
    lines = (folder / "scores.jsonl").read_text().splitlines(keepends=True)
    (folder / "scores.jsonl").write_text("".join(lines[4:]))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["scores.jsonl"] = folder_module.mark(folder, "scores.jsonl").model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedFolderError, match="expected the tests after period 0"):
        _run(tmp_path)


def test_a_missing_cell_and_added_bytes_are_found(tmp_path: Path) -> None:
    folder = _run(tmp_path, keep_predictions=False)
    with (folder / "cost.json").open("a") as file:
        file.write(" ")
    assert "something was added" in check_folder(folder)[0].problem
    lines = (folder / "scores.jsonl").read_text().splitlines(keepends=True)
    (folder / "scores.jsonl").write_text("".join(lines[1:]))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["scores.jsonl"] = folder_module.mark(folder, "scores.jsonl").model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    problems = [finding.problem for finding in check_folder(folder)]
    assert "expected a score on period 0 after period 0, found none" in problems


def test_drafts_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path, watch=_stop_at("tested", 1))
    (folder,) = find_folders(tmp_path)
    (folder / ".scores.jsonl.deadbeef").write_text("half")
    (folder / "checkpoint" / ".000009.deadbeef").mkdir()
    _run(tmp_path)
    assert not [path for path in folder.rglob(".*") if path.name != ".lock"]
    assert check_folder(folder) == []


def test_a_run_keeps_predictions_as_it_began(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path, watch=_stop_at("tested", 1))
    assert check_folder(_run(tmp_path, keep_predictions=False)) == []


def test_a_lost_checkpoint_means_learning_again(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        _run(tmp_path / "stopped", watch=_stop_at("tested", 1))
    (folder,) = find_folders(tmp_path / "stopped")
    for checkpoint in list((folder / "checkpoint").iterdir()):
        checkpoint.rename(checkpoint.with_name(f"{checkpoint.name}.bak"))
    again, whole = _run(tmp_path / "stopped"), _run(tmp_path / "whole")
    assert (again / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


@pytest.mark.parametrize("options", [{"memory": np.int64(3)}, {"memory": object()}])
def test_options_that_are_not_plain_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(OnwardError, match="plain numbers"):
        _run(tmp_path, options=options)


class Sized(Plain):
    def __init__(self, sizes: Any = None) -> None:
        super().__init__()


def test_options_come_back_as_they_are_stored(tmp_path: Path) -> None:
    for _ in range(2):
        _run(tmp_path, Sized, options={"sizes": (1, 2)})


def test_a_learners_own_error_is_not_blamed_on_the_results(tmp_path: Path) -> None:
    class Rude(Plain):
        def learn(self, view: View, budget: Budget) -> None:
            raise PermissionError(errno.EACCES, "my own file")

    with pytest.raises(PermissionError, match="my own file"):
        _run(tmp_path, Rude)


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
                _run(place)
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
