"""The whole command, on a miniature of the official download."""

import json
import sys
from pathlib import Path

import pytest
from clear_miniature import write_old

from onward.cli import main
from onward.results.read import find_folders


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_old(tmp_path_factory.mktemp("download"))


def typed(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["onward", "reproduce", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code if isinstance(end.value.code, int) else 0


def test_a_table_is_made_and_made_again_without_running(
    download: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("clear/table2", "--data", download, "--recipe", "cpu", "--out", tmp_path / "out")
    some = ("--rows", "alpha=[15]", "--seeds", "2", "--jobs", "1")
    assert typed(monkeypatch, *words, *some, "--json") == 0
    out, err = capsys.readouterr()
    assert "runs to make or to find: 4" in err
    found = json.loads(out)
    assert [row["name"] for row in found["rows"]] == ["alpha=1", "alpha=5"]
    cell = found["rows"][0]["cells"]["iid_next_domain"]
    assert cell["published"] == {"mean": 88.8, "deviation": 0.0, "status": "ok"}
    assert cell["ours"]["repetitions"] == [2]
    assert len(cell["ours"]["values"]) == 1
    assert 0 < cell["ours"]["mean"] < 100
    (claim,) = found["claims"]
    assert claim["answer"] == "cannot tell"
    assert claim["pairs"][0]["interval"] == [None, None]
    assert found["claims_not_run"] == ["α = 0.75 i/k above plain reservoir"]

    saved = json.loads((tmp_path / "out" / "table2.json").read_text("utf-8"))
    assert {name: saved[name] for name in found} == found
    pictures = [tmp_path / "out" / path for path in saved["pictures"].values()]
    assert len(pictures) == 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    page = (tmp_path / "out" / "table2.md").read_text("utf-8")
    assert "| α = 5 | ours |" in page
    assert all(path in page for path in saved["pictures"].values())

    before = {path: path.stat().st_mtime_ns for path in _logs(tmp_path)}
    assert len(before) == 4
    assert typed(monkeypatch, *words, *some) == 0
    shown = capsys.readouterr().out
    assert "What the paper claims" in shown
    assert {path: path.stat().st_mtime_ns for path in _logs(tmp_path)} == before
    again = json.loads((tmp_path / "out" / "table2.json").read_text("utf-8"))
    assert again == saved


def _logs(folder: Path) -> list[Path]:
    return [run / "scores.jsonl" for run in find_folders(folder / "out" / "results")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("clear/tabel1",), "Did you mean 'clear/table1'"),
        (("clear/table1", "--rows", "linear/ewcc"), "Did you mean 'linear/ewc'"),
        (("clear/table1", "--data", "emojy"), "Did you mean 'emoji'"),
        (("clear/table1", "--data", "/nowhere/clear10"), "/nowhere/clear10"),
        (("clear/table1", "--recipe", "papers"), "Did you mean 'paper'"),
        (("clear/table1", "--seeds", "x"), "expected seeds such as"),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert typed(monkeypatch, *words, "--out", tmp_path / "out") == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_a_table_that_the_data_cannot_give_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_old(tmp_path / "download", images=False)
    words = ("clear/table1", "--data", folder, "--rows", "resnet18/*", "--out", tmp_path / "out")
    assert typed(monkeypatch, *words) == 2
    assert "none of these rows can be run" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_the_form_that_programs_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("clear/table2", "--data", "emoji", "--recipe", "cpu", "--out", tmp_path / "out")
    assert typed(monkeypatch, *words) == 0
    shown = capsys.readouterr().out
    assert shown.count("holds") >= 2
