"""What a run leaves behind, stopped or whole, alone or beside another."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stopped_runs import Interrupt, Plain, run_tiny, snapshot, stop_at

import onward
from onward.checks.tiny import tiny_benchmark
from onward.errors import OnwardError
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.record import load_record


def test_a_folder_holds_what_the_schema_says(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
    names = set(snapshot(folder))
    assert json.loads((folder / "log.jsonl").read_text().splitlines()[-1])["event"] == "finished"
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
    one, other = (run_tiny(tmp_path / name) for name in ("a", "b"))
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
        run_tiny(tmp_path / "stopped", method, watch=stop_at(kind, period))
    stopped, whole = run_tiny(tmp_path / "stopped", method), run_tiny(tmp_path / "whole", method)
    for name in ("scores.jsonl", *(f"predictions/{i:03d}.parquet" for i in range(4))):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
    assert check_folder(stopped) == []
    first, second = load_record(stopped).cost, load_record(whole).cost
    assert first is not None
    assert second is not None
    assert (first.samples, first.iterations) == (second.samples, second.iterations)


def test_a_learner_without_save_is_replayed_and_the_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path / "stopped", Plain, watch=stop_at("tested", 1))
    kinds: list[str] = []
    stopped = run_tiny(tmp_path / "stopped", Plain, watch=lambda event: kinds.append(event.kind))
    assert kinds.count("learned") == 4
    assert kinds.count("tested") == 2
    assert "replayed" in kinds
    assert "replayed" in (stopped / "log.jsonl").read_text()
    whole = run_tiny(tmp_path / "whole", Plain)
    assert (stopped / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


def test_the_same_spec_again_does_nothing_and_says_so(tmp_path: Path) -> None:
    before = snapshot(run_tiny(tmp_path))
    kinds: list[str] = []
    after = snapshot(run_tiny(tmp_path, watch=lambda event: kinds.append(event.kind)))
    assert after == before
    assert kinds == ["done before"]


def test_a_run_that_leaves_no_folder_has_its_decisions_all_the_same(tmp_path: Path) -> None:
    passing, lasting = (
        onward.run(tiny_benchmark(), "nap", seed=0, out=out) for out in (None, tmp_path)
    )
    assert passing.path is None
    np.testing.assert_array_equal(passing.class_matrix()[0], lasting.class_matrix()[0])


def test_predictions_can_be_left_out(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path, keep_predictions=False)
    assert not (folder / "predictions").exists()
    (finding,) = check_folder(folder)
    assert "its scores cannot be computed again" in finding.problem
    with pytest.raises(OnwardError, match="kept no predictions"):
        load_record(folder).class_matrix()


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


def test_drafts_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, watch=stop_at("tested", 1))
    (folder,) = find_folders(tmp_path)
    (folder / ".scores.jsonl.deadbeef").write_text("half")
    (folder / "checkpoint" / ".000009.deadbeef").mkdir()
    run_tiny(tmp_path)
    assert not [path for path in folder.rglob(".*") if path.name != ".lock"]
    assert check_folder(folder) == []


def test_a_run_keeps_predictions_as_it_began(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, watch=stop_at("tested", 1))
    assert check_folder(run_tiny(tmp_path, keep_predictions=False)) == []


def test_a_lost_checkpoint_means_learning_again(tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path / "stopped", watch=stop_at("tested", 1))
    (folder,) = find_folders(tmp_path / "stopped")
    for checkpoint in list((folder / "checkpoint").iterdir()):
        checkpoint.rename(checkpoint.with_name(f"{checkpoint.name}.bak"))
    again, whole = run_tiny(tmp_path / "stopped"), run_tiny(tmp_path / "whole")
    assert (again / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()


@pytest.mark.parametrize("options", [{"memory": np.int64(3)}, {"memory": object()}])
def test_options_that_are_not_plain_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(OnwardError, match="plain numbers"):
        run_tiny(tmp_path, options=options)


class Sized(Plain):
    def __init__(self, sizes: Any = None) -> None:
        super().__init__()


def test_options_come_back_as_they_are_stored(tmp_path: Path) -> None:
    for _ in range(2):
        run_tiny(tmp_path, Sized, options={"sizes": (1, 2)})
