"""Folders that something happened to: found, told, and left alone."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stopped_runs import Interrupt, run_tiny, snapshot, stop_at
from tamper import Tamperer

from onward.errors import DamagedFolderError, OnwardError
from onward.results import folder as folder_module
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.record import load_record
from onward.results.schema import Progress
from onward.results.state import load_state, save_state
from onward.turns import Event


def _committed(folder: Path) -> list[str]:
    return [*json.loads((folder / "manifest.json").read_text())["files"], "manifest.json"]


def test_a_damaged_byte_in_any_file_is_found_and_nothing_is_changed(tmp_path: Path) -> None:
    whole = run_tiny(tmp_path / "whole")
    for name in _committed(whole):
        copy = tmp_path / "copy" / name.replace("/", "-") / whole.name
        shutil.copytree(whole, copy)
        content = bytearray((copy / name).read_bytes())
        for place in (0, len(content) // 2, len(content) - 1):
            content[place] ^= 0x04
        (copy / name).write_bytes(bytes(content))
        before = snapshot(copy)
        problems = check_folder(copy)
        assert problems, name
        assert name in problems[0].problem
        assert snapshot(copy) == before


def test_a_damaged_folder_is_refused_for_going_on(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, watch=stop_at("tested", 2))
    (folder,) = find_folders(tmp_path)
    names = _committed(folder)
    names += [name for name in snapshot(folder) if name.startswith("checkpoint/")]
    for name in names:
        good = (folder / name).read_bytes()
        bad = bytearray(good)
        bad[len(bad) // 2] ^= 0x04
        (folder / name).write_bytes(bytes(bad))
        before = snapshot(folder)
        with pytest.raises(DamagedFolderError):
            run_tiny(tmp_path)
        after = {k: v for k, v in snapshot(folder).items() if k != "log.jsonl"}
        assert after == {k: v for k, v in before.items() if k != "log.jsonl"}
        (folder / name).write_bytes(good)
    run_tiny(tmp_path)


@pytest.mark.parametrize("added", [b"x", b"\xff", b"{}"])
def test_bytes_appended_to_a_file_of_a_checkpoint_are_refused(tmp_path: Path, added: bytes) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, watch=stop_at("tested", 1))
    (folder,) = find_folders(tmp_path)
    (checkpoint,) = (folder / "checkpoint").iterdir()
    for path in [path for path in checkpoint.rglob("*") if path.is_file()]:
        good = path.read_bytes()
        path.write_bytes(good + added)
        before = snapshot(folder)
        with pytest.raises(DamagedFolderError) as error:
            run_tiny(tmp_path)
        for part in (path.name, f"Delete {checkpoint} and run again"):
            assert part in str(error.value)
        assert any(path.name in finding.problem for finding in check_folder(folder))
        after = snapshot(folder)
        assert {k for k in before | after if before.get(k) != after.get(k)} <= {"log.jsonl"}
        path.write_bytes(good)
    run_tiny(tmp_path)


def test_a_learner_state_that_is_no_safetensors_is_refused(tmp_path: Path) -> None:
    save_state(tmp_path, {"weights": np.zeros(3)})
    with (tmp_path / "arrays.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(DamagedFolderError, match="the learner's state in"):
        load_state(tmp_path)


def test_a_newer_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 99}))
    before = snapshot(folder)
    for use in (lambda: load_record(folder), lambda: run_tiny(tmp_path)):
        with pytest.raises(OnwardError, match="newer Onward"):
            use()
    assert "newer Onward" in check_folder(folder)[0].problem
    assert snapshot(folder) == before


def test_a_score_that_was_changed_with_its_hash_is_found(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
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


class _Runs:
    """Pickled, it makes a folder wherever it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.folder),))


def test_a_checkpoint_that_holds_a_program_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path / "out", watch=stop_at("tested", 1))
    (folder,) = find_folders(tmp_path / "out")
    (checkpoint,) = (folder / "checkpoint").iterdir()
    np.save(checkpoint / "held.npy", np.array([_Runs(tmp_path / "was run")]), allow_pickle=True)
    manifest = json.loads((checkpoint / "manifest.json").read_text())
    manifest["files"]["held.npy"] = folder_module.mark(checkpoint, "held.npy").model_dump()
    (checkpoint / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedFolderError, match=r"held\.npy.*allow_pickle=False"):
        run_tiny(tmp_path / "out")
    assert not (tmp_path / "was run").exists()


def test_a_renamed_folder_is_found(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
    renamed = folder.rename(folder.with_name("0" * 16))
    assert "expected the folder name" in check_folder(renamed)[0].problem


def test_a_folder_of_before_a_field_was_there_keeps_its_name(tmp_path: Path) -> None:
    mine = Tamperer(run_tiny(tmp_path / "run"), tmp_path)
    mine.change_file("spec.json", lambda spec: spec.pop("tuned"))
    spec = json.loads((mine.folder / "spec.json").read_text())
    said = json.dumps(spec, separators=(",", ":"), ensure_ascii=False)
    name = hashlib.sha256(said.encode()).hexdigest()[:16]
    mine.folder = mine.folder.rename(mine.folder.with_name(name))
    mine.redo_manifest()
    assert check_folder(mine.folder) == []


def test_results_without_their_manifest_are_refused_and_left_alone(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
    (folder / "manifest.json").unlink()
    before = snapshot(folder)
    with pytest.raises(DamagedFolderError, match=r"expected a manifest\.json"):
        run_tiny(tmp_path)
    assert snapshot(folder) == before
    assert "manifest" in check_folder(folder)[0].problem


def test_a_lost_row_is_found_and_not_papered_over(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, watch=stop_at("tested", 2))
    (folder,) = find_folders(tmp_path)
    lines = (folder / "scores.jsonl").read_text().splitlines(keepends=True)
    (folder / "scores.jsonl").write_text("".join(lines[4:]))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["scores.jsonl"] = folder_module.mark(folder, "scores.jsonl").model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedFolderError, match="expected the tests after period 0"):
        run_tiny(tmp_path)


def test_a_missing_cell_and_added_bytes_are_found(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path, keep_predictions=False)
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


def _torn_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Path:
    """Return a run folder copied while it was written.

    Its checkpoint is from inside period 2; its scores were copied before period 1 was tested.
    """
    before_tests = tmp_path / "before"

    def copy_before_tests(event: Event) -> None:
        if (event.kind, event.period) == ("learned", 1):
            (folder,) = find_folders(tmp_path / "live")
            shutil.copytree(folder, before_tests)

    write_checkpoint = folder_module.RunFolder.checkpoint

    def stop_inside_period_2(self: folder_module.RunFolder, progress: Progress, *rest: Any) -> None:
        write_checkpoint(self, progress, *rest)
        if progress.period == 2 and progress.inside_call:
            raise Interrupt

    with monkeypatch.context() as patch:
        patch.setattr(folder_module.RunFolder, "checkpoint", stop_inside_period_2)
        with pytest.raises(Interrupt):
            run_tiny(tmp_path / "live", checkpoint_seconds=0, watch=copy_before_tests)
    (folder,) = find_folders(tmp_path / "live")
    shutil.rmtree(before_tests / "checkpoint")
    shutil.copytree(folder / "checkpoint", before_tests / "checkpoint")
    shutil.rmtree(folder)
    shutil.copytree(before_tests, folder)
    return folder


def test_resume_never_tests_a_period_with_weights_of_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _torn_copy(tmp_path, monkeypatch)
    before = snapshot(folder)
    with pytest.raises(DamagedFolderError, match=r"tests after period 1 .* checkpoint .* period 2"):
        run_tiny(tmp_path / "live")
    after = snapshot(folder)
    assert {k: v for k, v in after.items() if k != "log.jsonl"} == {
        k: v for k, v in before.items() if k != "log.jsonl"
    }


def test_check_finds_a_checkpoint_that_is_ahead_of_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _torn_copy(tmp_path, monkeypatch)
    problems = [finding.problem for finding in check_folder(folder)]
    assert any("tests after period 1" in problem for problem in problems)


def test_a_run_whose_checkpoint_was_removed_is_learned_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _torn_copy(tmp_path, monkeypatch)
    shutil.rmtree(folder / "checkpoint")
    run_tiny(tmp_path / "live")
    whole = run_tiny(tmp_path / "whole")
    assert (folder / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()
    assert check_folder(folder) == []


def test_a_second_writer_is_noticed_where_locks_do_nothing(tmp_path: Path) -> None:
    def write_as_another_process(event: Event) -> None:
        if (event.kind, event.period) == ("learned", 1):
            (folder,) = find_folders(tmp_path)
            manifest = json.loads((folder / "manifest.json").read_text())
            del manifest["files"]["predictions/000.parquet"]
            (folder / "manifest.json").write_text(json.dumps(manifest))
            found.update(snapshot(folder))

    found: dict[str, bytes] = {}
    with pytest.raises(DamagedFolderError, match="another process"):
        run_tiny(tmp_path, watch=write_as_another_process)
    (folder,) = find_folders(tmp_path)
    assert all((folder / name).read_bytes() == found[name] for name in found if "/" not in name)
