"""``onward report``: over real folders, whole, damaged and unfinished."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from onward.report.commands import commands
from onward.results.collect import collect

CLEAR = ("run", "clear", "--training", "epochs=1", "--jobs", "1")
ODD = (
    (
        *CLEAR,
        "--model",
        "mlp",
        "--method",
        "er",
        "--option",
        "memory=50",
        "--budget",
        "stored_samples=60",
    ),
    ("run", "iirc", "--subgroups", "all", "--method", "finetune", "--training", "epochs=1"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "onward", *CLEAR, "--method", "nap", "--method", "finetune"]
    subprocess.run([*command, "--seeds", "0-1", "--out", out], check=True, capture_output=True)
    return out


def test_a_page_is_written_and_says_what_it_shows(
    onward: Terminal, results: Path, tmp_path: Path
) -> None:
    code, out, _ = onward("report", results, "--out", tmp_path / "page.html", "--title", "A title")
    assert code == 0
    assert "4 runs: CLEAR, emoji edition" in out
    assert f"the page: {tmp_path / 'page.html'}" in out
    text = (tmp_path / "page.html").read_text()
    assert "<title>A title</title>" in text
    assert text.count("data:image/webp") == 7  # samples of every period
    assert "Class mix" in text
    assert "Python 3." in text


def test_damaged_and_unfinished_folders_are_left_out_and_named(
    onward: Terminal, results: Path, tmp_path: Path
) -> None:
    copied = shutil.copytree(results, tmp_path / "results")
    hurt, begun = sorted(copied.glob("clear/finetune/*"))
    (hurt / "scores.jsonl").write_text("{}")
    manifest = json.loads((begun / "manifest.json").read_text())
    manifest["complete"] = False
    (begun / "manifest.json").write_text(json.dumps(manifest))
    code, out, _ = onward("report", copied, "--out", tmp_path / "page.html")
    assert code == 0
    assert "2 runs: " in out
    assert f"left out: {hurt}: scores.jsonl" in out
    assert "finetune (streaming), seed" in out
    assert "7 of 7 periods are tested" in out
    shutil.rmtree(copied / "clear" / "nap")
    code, _, err = onward("report", copied, "--out", tmp_path / "other.html")
    assert code == 2
    assert "expected at least one complete run to report, found 1 unfinished and 1 that" in err
    assert not (tmp_path / "other.html").exists()


@pytest.mark.parametrize("asked", ODD)
def test_the_commands_on_a_page_make_the_same_runs(
    onward: Terminal, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    assert onward(*asked, "--out", tmp_path)[0] == 0
    (again,) = commands(record.spec for record in collect([tmp_path]).records)
    code, out, err = onward(*shlex.split(again)[1:], "--out", tmp_path, "--jobs", "1")
    assert code == 0, err
    assert "1 of 1 runs were complete already" in out, again
