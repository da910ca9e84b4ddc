"""IIRC from the command line: runs, checks, and mistakes, which end with status 2."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from cifar_miniature import write_cifar
from terminal import Terminal


class _Command:
    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> Any:
        return os.system, (self._command,)


def test_a_run_on_emoji(onward: Terminal, tmp_path: Path) -> None:
    run = ("run", "iirc", "--data", "emoji", "--method", "nap", "--training", "epochs=1")
    code, _, error = onward(*run, "--out", tmp_path)
    assert code == 0, error
    code, out, _ = onward("show", tmp_path, "--json")
    assert code == 0
    assert json.loads(out)[0]["method"] == "nap"


def test_the_stream_is_checked(onward: Terminal, tmp_path: Path) -> None:
    write_cifar(tmp_path)
    code, out, _ = onward("check", "stream", "iirc", "--data", tmp_path, "--configuration", "1")
    assert code == 0
    assert "0 failed" in out


def test_the_data_is_checked_whatever_lies_in_the_folder(onward: Terminal, tmp_path: Path) -> None:
    folder = write_cifar(tmp_path) / "cifar-100-python"
    code, out, _ = onward("check", "data", tmp_path)
    assert code == 0
    assert "0 problems" in out
    (folder / "meta").write_bytes(pickle.dumps({"fine_label_names": 5}))
    code, _, error = onward("check", "data", tmp_path)
    assert code == 2
    assert "expected fine_label_names" in error


def test_a_hostile_pickle_is_refused_and_not_run(onward: Terminal, tmp_path: Path) -> None:
    folder = write_cifar(tmp_path) / "cifar-100-python"
    mark = tmp_path / "was-run"
    (folder / "train").write_bytes(pickle.dumps(_Command(f"touch {mark}"), protocol=2))
    code, _, error = onward("run", "iirc", "--data", tmp_path, "--method", "finetune")
    assert code == 2
    assert "posix.system" in error
    assert "Nothing in the file was run" in " ".join(error.split())
    assert "Traceback" not in error
    assert not mark.exists()


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ({"a": ["b"], "b": ["a"]}, "a cycle"),
        ({"a": []}, "none under 'a'"),
        ({"a": ["apple"], "b": ["apple"]}, "under 'a' and under 'b'"),
    ],
)
def test_a_hierarchy_that_is_wrong(
    onward: Terminal, tmp_path: Path, hierarchy: Any, message: str
) -> None:
    write_cifar(tmp_path, train=2, test=1)
    path = tmp_path / "hierarchy.json"
    path.write_text(json.dumps(hierarchy))
    run = ("run", "iirc", "--data", tmp_path, "--method", "er")
    code, _, error = onward(*run, "--hierarchy", path)
    assert code == 2
    assert message in " ".join(error.split())


def test_classes_that_are_too_small(onward: Terminal, tmp_path: Path) -> None:
    write_cifar(tmp_path, train=10, test=1)
    code, _, error = onward("run", "iirc", "--data", tmp_path, "--method", "er")
    assert code == 2
    assert "at least 20" in " ".join(error.split())
