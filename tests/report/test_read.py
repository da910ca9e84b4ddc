"""Results in one line of Python, with a warning for what is left out."""

from pathlib import Path

import pytest
from tiny_runs import damage, tiny_runs, unfinished_run

import onward
from onward.errors import OnwardError
from onward.results.read import find_folders


def test_runs_are_averaged_and_more_metrics_can_be_asked_for(tmp_path: Path) -> None:
    tiny_runs(tmp_path / "a", ("finetune",), 2)
    tiny_runs(tmp_path / "b", ("nap",), 1)
    found = onward.report.read(
        tmp_path / "a", str(tmp_path / "b"), more=["literature.gem_backward_transfer"]
    )
    assert {item.label: item.seeds for item in found} == {"finetune": (0, 1), "nap": (0,)}
    assert all("literature.gem_backward_transfer" in item.metrics for item in found)


def test_what_is_left_out_is_warned_about(tmp_path: Path) -> None:
    tiny_runs(tmp_path, ("nap",), 2)
    damage(next(iter(find_folders(tmp_path))))
    unfinished_run(tmp_path)
    with pytest.warns(UserWarning, match="left out: ") as told:
        (found,) = onward.report.read(tmp_path)
    assert len(found.seeds) == 1
    messages = [str(warning.message) for warning in told]
    assert "scores.jsonl in" in messages[0]
    assert messages[1] == "left out: 1 of 2 runs, not finished"


def test_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="found nothing at"):
        onward.report.read(tmp_path / "nowhere")
