"""``onward check results`` and ``onward data key``, typed."""

import json
from pathlib import Path

import pytest
from silent import Silent
from small_street import small_street
from tamper import Tamperer
from terminal import Terminal

import onward as package


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("drive")
    path = package.run(package.load("clad-c", data=small_street()), Silent, out=out).path
    assert path is not None
    return path


def test_all_is_well_and_what_nobody_can_tell_is_a_note(onward: Terminal, drive: Path) -> None:
    code, out, _ = onward("check", "results", drive.parents[1])
    assert code == 0
    assert "note: no key is known for clad-c on soda:made" in out
    assert "1 run folders checked, 0 with problems" in out
    code, out, _ = onward("check", "results", drive, "--json")
    found = json.loads(out)
    assert (code, found["checked"], found["problems"], len(found["notes"])) == (0, 1, [], 1)


def test_a_key_is_written_and_used(onward: Terminal, drive: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    code, out, err = onward(
        "data", "key", "clad-c", "--data", small_street(), "--seeds", "0-2", "--out", key
    )
    assert (code, err) == (0, "")
    assert "1 tests of clad-c on soda:made, protocol online, seeds 0-2" in out
    code, out, _ = onward("check", "results", drive, "--key", key)
    assert (code, out) == (0, "1 run folders checked, 0 with problems\n")
    mine = Tamperer(drive, tmp_path)
    for period in range(6):
        mine.change_decisions(period, lambda columns: columns["targets"].fill(0))
    mine.rescore()
    mine.redo_manifest()
    code, out, _ = onward("check", "results", mine.folder, "--key", key)
    assert code == 2
    assert "other samples or targets than the benchmark: its key says" in out
    assert "1 with problems" in out


def test_mistakes_are_said_in_one_sentence(onward: Terminal, drive: Path, tmp_path: Path) -> None:
    code, _, err = onward("check", "results", drive, "--key", tmp_path / "none.json")
    assert code == 2
    assert "expected a file of keys at" in err
    code, _, err = onward("data", "key", "clear", "--seeds", "many", "--out", tmp_path / "k.json")
    assert code == 2
    assert "expected seeds such as" in err
