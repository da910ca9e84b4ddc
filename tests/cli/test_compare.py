"""onward compare: what differs, in words and as JSON."""

import json
from pathlib import Path

import pytest
from terminal import Terminal
from tiny_runs import damage, respecced, tiny_runs

from onward.results.read import find_folders


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tiny_runs(tmp_path_factory.mktemp("results"), ("finetune", "nap"), 2)
    return tiny_runs(out, ("er",), 2, memory=7)


def test_the_same_is_called_the_same(onward: Terminal, results: Path) -> None:
    code, out, err = onward("compare", results / "tiny" / "er", results / "tiny" / "er")
    assert (code, err) == (0, "")
    assert "The same: the same spec, the same scores and the same answers." in out


def test_two_methods(onward: Terminal, results: Path) -> None:
    code, out, _ = onward("compare", results / "tiny" / "er", results / "tiny" / "nap")
    assert code == 0
    assert "2 fields of the spec differ. The scores differ." in out
    for part in ("method_options.memory", "stored samples", "next-domain", "right in A alone"):
        assert part in out
    assert "cannot tell: 6 seeds needed" in out


def test_as_json(onward: Terminal, results: Path) -> None:
    code, out, _ = onward("compare", results / "tiny" / "er", results / "tiny" / "nap", "--json")
    (pair,) = json.loads(out)["pairs"]
    assert (code, pair["same"], pair["same_scores"]) == (0, False, False)
    assert {"field": "method", "a": "er", "b": "nap"} in pair["spec"]
    assert pair["metrics"][0]["answer"] == "cannot tell"
    assert pair["answers"][0]["different"] > 0


def test_folders_of_several_methods(onward: Terminal, results: Path, tmp_path: Path) -> None:
    tiny_runs(tmp_path, ("finetune", "scratch"), 2)
    code, out, _ = onward("compare", results, tmp_path)
    assert code == 0
    assert "The same: the same spec, the same scores" in out
    assert "in A alone: er(memory=7) on tiny/points, iid; nap on tiny/points, iid" in out
    assert "in B alone: scratch on tiny" in out


def test_runs_by_hash_and_specs_by_file(onward: Terminal, results: Path, tmp_path: Path) -> None:
    first, second = sorted((results / "tiny" / "nap").iterdir())
    code, out, _ = onward("compare", first.name, second.name[:12], "--results", results)
    assert code == 0
    assert "seed" in out
    changed = respecced(first, tmp_path / "mine.json", recipe_name="mine")
    code, out, _ = onward("compare", first / "spec.json", changed)
    assert code == 0
    assert "1 field of the spec differs." in out
    assert "recipe_name" in out
    code, out, _ = onward("compare", changed, changed)
    assert (code, "The same spec." in out) == (0, True)


def test_a_damaged_run_is_named(onward: Terminal, tmp_path: Path) -> None:
    out = tiny_runs(tmp_path, ("nap",), 2)
    damage(next(iter(find_folders(out))))
    code, text, err = onward("compare", out, out)
    assert code == 0
    assert "The same" in text
    assert "scores.jsonl in" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere", "nowhere"), "found nothing at nowhere"),
        (("empty", "empty"), "expected run folders below"),
        (("holiday.txt", "holiday.txt"), "expected the spec of a run as JSON"),
        (("abcd1234", "abcd1234"), "found nothing at abcd1234"),
    ],
)
def test_bad_input_is_one_message(
    onward: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("holiday.txt").write_text("sun")
    code, out, err = onward("compare", *words)
    assert (code, out) == (2, "")
    assert message in err
