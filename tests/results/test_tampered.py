"""Run folders that somebody has changed, with every hash made right again."""

import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from silent import Silent
from small_street import small_street
from tamper import Tamperer

import onward
from onward.benchmarks.rules import rules
from onward.checks.tiny import tiny_benchmark
from onward.exam import keys_of
from onward.results.check_many import Checked, check_results
from onward.results.keys import known_keys
from onward.results.record import RunRecord, load_record

Lines = list[dict[str, Any]]


def _check(*folders: Path | None, **given: Any) -> Checked:
    found = [folder for folder in folders if folder is not None]
    return check_results(found, rules=rules(), **given)


def _problems(*folders: Path | None, **given: Any) -> list[str]:
    return [finding.problem for finding in _check(*folders, **given).problems]


@pytest.fixture(scope="module")
def emoji(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of CLEAR on emoji, whose key is in the package."""
    out, made = tmp_path_factory.mktemp("emoji"), onward.load("clear", protocol="iid")
    return _paths(onward.run(made, "nap", seed=seed, out=out) for seed in (0, 1))


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of CLAD-C with a curve, on frames whose key is not."""
    out = tmp_path_factory.mktemp("drive")
    made = onward.load("clad-c", data=small_street(), curve=80)
    return _paths(onward.run(made, "nap", seed=seed, out=out) for seed in (0, 1))


def _paths(records: Iterable[RunRecord]) -> list[Path]:
    return [record.path for record in records if record.path is not None]


def test_whole_folders_pass(emoji: list[Path], drive: list[Path]) -> None:
    assert _check(*emoji).problems == ()
    assert _check(*emoji).notes == ()
    assert _check(*drive).problems == ()


def test_one_cell_changed(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)

    def better(lines: Lines) -> Lines:
        lines[3]["scores"]["accuracy"] += 0.01
        return lines

    mine.change_lines("scores.jsonl", better)
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert problem.startswith("on period 3 after period 0: scores.jsonl says {'accuracy': ")
    assert "the stored decisions give" in problem


def test_a_cell_and_all_that_follows_from_it_changed(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)

    def better(lines: Lines) -> Lines:
        last = {"accuracy": 0.99, "class_mean_accuracy": 0.99}
        return [*lines[:-1], {**lines[-1], "scores": last}]

    for name in ("scores.jsonl", "curve.jsonl"):
        mine.change_lines(name, better)
    mine.redo_manifest()
    of_cell, of_curve = _problems(mine.folder)
    assert "on test after period 5: scores.jsonl says {'accuracy': 0.99" in of_cell
    assert "curve.jsonl says {'accuracy': 0.99" in of_curve
    assert "the same model" in of_curve


@pytest.mark.parametrize(("by", "wrong"), [(1e-14, 0), (1e-9, 1)])
def test_rounding_is_no_change(emoji: list[Path], tmp_path: Path, by: float, wrong: int) -> None:
    mine = Tamperer(emoji[0], tmp_path)

    def moved(lines: Lines) -> Lines:
        lines[3]["scores"]["class_mean_accuracy"] += by
        return lines

    mine.change_lines("scores.jsonl", moved)
    mine.redo_manifest()
    assert len(_problems(mine.folder)) == wrong


def test_the_end_of_a_curve_changed(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)

    def better(lines: Lines) -> Lines:
        lines[-1]["scores"]["class_mean_accuracy"] += 0.01
        return lines

    mine.change_lines("curve.jsonl", better)
    mine.redo_manifest()
    assert any("after the last sample" in problem for problem in _problems(mine.folder))
    mine.change_lines("curve.jsonl", lambda lines: [*lines, lines[0]])
    mine.redo_manifest()
    assert any("not in order, or there twice" in problem for problem in _problems(mine.folder))


def _easier(columns: dict[str, Any]) -> None:
    columns["targets"][:5] = columns["decisions"][:5]


def _all_alike(columns: dict[str, Any]) -> None:
    columns["targets"][:5] = 0


def test_targets_changed_and_scores_computed_again(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    for period in range(7):
        mine.change_decisions(period, _easier)
    mine.rescore()
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert "the test period 0 after periods 0, 1, 2, 3, 4 and 2 more has other samples" in problem
    assert "its key says" in problem


def test_ids_changed(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)

    def renamed(columns: dict[str, Any]) -> None:
        columns["ids"][0] = "another"

    mine.change_decisions(2, renamed)
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert "the test period 0 after period 2 has other samples or targets" in problem


def test_a_hard_half_of_every_test_left_out(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)

    def half(columns: dict[str, Any]) -> None:
        right = np.flatnonzero(columns["targets"] == columns["decisions"])
        columns.update({name: values[right] for name, values in columns.items()})

    for period in range(7):
        mine.change_decisions(period, half)
    mine.rescore()
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert problem == (
        "8 tests have other samples or targets than the benchmark's key of this seed has: "
        "period 0, period 1, period 2 and 5 more"
    )


def test_a_whole_test_left_out(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)

    def without(columns: dict[str, Any]) -> None:
        others = np.flatnonzero(columns["tests"] != "twemoji")
        columns.update({name: values[others] for name, values in columns.items()})

    for period in range(7):
        mine.change_decisions(period, without)
    mine.change_lines("scores.jsonl", lambda lines: [n for n in lines if n["test"] != "twemoji"])
    mine.redo_manifest()
    problems = _problems(mine.folder)
    assert "expected a score on twemoji after period 0, found none" in problems
    assert len(problems) == 7


def test_targets_changed_where_no_key_is_known(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)
    mine.change_decisions(4, _all_alike)
    mine.rescore()
    mine.redo_manifest()
    assert any(
        "the test test after period 4 has other samples or targets than after an earlier one" in p
        for p in _problems(mine.folder)
    )
    for period in (0, 1, 2, 3, 5):
        mine.change_decisions(period, _all_alike)
    mine.rescore()
    mine.change_lines("curve.jsonl", lambda lines: [*lines[:-1], _last(mine.folder, lines[-1])])
    mine.redo_manifest()
    # Alone, nobody can tell, and it is said.
    alone = _check(mine.folder)
    assert alone.problems == ()
    assert "no key is known for clad-c on soda:made" in alone.notes[0]
    # Another run of the same seed can.
    made = onward.load("clad-c", data=small_street(), curve=80)
    other = onward.run(made, Silent, seed=0, out=tmp_path / "other").path
    beside = _problems(mine.folder, other)
    assert len(beside) == 2
    assert all("no key tells which is right" in problem for problem in beside)
    # And so does a key of whoever has the data.
    (problem,) = _problems(mine.folder, keys=known_keys() | keys_of(made, [0, 1]))
    assert "its key says" in problem
    assert _check(*drive, keys=keys_of(made, [0, 1])).notes == ()


def _last(folder: Path, line: dict[str, Any]) -> dict[str, Any]:
    scores = json.loads((folder / "scores.jsonl").read_text().splitlines()[-1])["scores"]
    return {**line, "scores": scores}


def test_a_seed_copied_and_renamed(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    mine.change_spec(seed=2)
    mine.redo_manifest()
    # The key of seed 0 says which of them is the copy.
    found = _check(emoji[0], mine.folder).wrong
    assert set(found) == {mine.folder}
    assert any(f"is that of seed 0 in {emoji[0]}: a copy" in p for p in found[mine.folder])
    # Each seed has tests of its own there, so the copy alone is found too.
    assert any("8 tests have other samples" in p for p in _problems(mine.folder))


def _another_answer(columns: dict[str, Any]) -> None:
    columns["decisions"][0] = (columns["decisions"][0] + 1) % 6


def test_a_seed_copied_where_all_seeds_have_one_test(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)
    mine.change_spec(seed=7)
    mine.redo_manifest()
    assert _problems(mine.folder) == []
    assert {f.folder for f in _check(*drive, mine.folder).problems} == {drive[0], mine.folder}
    # Retouched in a single decision of each test, it is a copy still.
    mine.change_decisions(4, _another_answer)
    mine.rescore()
    mine.redo_manifest()
    found = _check(*drive, mine.folder).wrong
    assert set(found) == {drive[0], mine.folder}
    assert "nearly every one of seed 7 is that of seed 0" in found[mine.folder][-1]


def test_a_limit_raised(drive: list[Path], tmp_path: Path) -> None:
    spec = load_record(drive[0]).spec
    raised = {**spec.limits, "stored_samples": 5000.0}
    mine = Tamperer(drive[0], tmp_path / "asked")
    mine.change_spec(limits=raised)
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert "the protocol's rule is stored_samples = 1000 (samples kept" in problem
    assert "its limits allow 5000" in problem
    # The protocol's own words changed with it.
    mine = Tamperer(drive[0], tmp_path / "told")
    mine.change_spec(limits=raised, protocol={**spec.protocol, "limits": raised})
    mine.redo_manifest()
    assert "its limits allow 5000" in _problems(mine.folder)[0]
    mine = Tamperer(drive[0], tmp_path / "gone")
    mine.change_spec(limits={}, protocol={**spec.protocol, "limits": {}})
    mine.redo_manifest()
    assert len([p for p in _problems(mine.folder) if "do not limit it" in p]) == 4


def test_a_budget_that_was_not_kept(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)
    mine.change_file("cost.json", lambda cost: cost.update(stored_samples=1001))
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert problem == (
        "its limits allow stored_samples = 1000, cost.json says that 1,001 were used"
    )


def test_allowances_count_the_calls_of_whole_periods(tmp_path: Path) -> None:
    made = tiny_benchmark("iid")
    path = onward.run(made, "finetune", out=tmp_path, limits={"iterations": 9}).path
    assert path is not None
    assert _problems(path) == []
    mine = Tamperer(path, tmp_path / "mine")
    mine.change_file("cost.json", lambda cost: cost.update(iterations=37))
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert "iterations = 9 in each of 4 calls of learn, cost.json says that 37 were used" in problem


def test_another_protocol_under_the_same_name(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    protocol = load_record(emoji[0]).spec.protocol
    mine.change_spec(protocol={**protocol, "tests": "past"})
    mine.redo_manifest()
    problems = _problems(mine.folder)
    assert "its protocol iid says tests = 'past', that of clear says 'all'" in problems
    assert any("which this protocol does not test" in problem for problem in problems)


def test_a_batch_of_one_s_own(drive: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(drive[0], tmp_path)
    mine.change_spec(protocol={**load_record(drive[0]).spec.protocol, "batch": 1000})
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert problem == "its protocol online says batch = 1000, that of clad-c says 10"


def test_a_grain_may_be_asked_for(tmp_path: Path) -> None:
    made = onward.load("clear", protocol="online", grain=50)
    assert _problems(onward.run(made, Silent, out=tmp_path).path) == []


def test_a_newer_schema(emoji: list[Path], tmp_path: Path) -> None:
    for name in ("manifest.json", "spec.json"):
        mine = Tamperer(emoji[0], tmp_path / name)
        mine.change_file(name, lambda content: content.update(schema_version=9))
        if name == "spec.json":
            mine.redo_manifest()
        (problem,) = _problems(mine.folder)
        assert f"written by a newer Onward (version 9 of {name})" in problem


def test_a_missing_cell(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    mine.change_lines("scores.jsonl", lambda lines: lines[:2] + lines[3:])
    mine.redo_manifest()
    problems = _problems(mine.folder)
    assert "expected a score on period 2 after period 0, found none" in problems
    assert (
        "decisions are stored on period 2 after period 0, but scores.jsonl has no such cell"
        in problems
    )


def test_an_extra_file(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    (mine.folder / "weights.bin").write_bytes(b"x")
    assert _problems(mine.folder) == ["found weights.bin, which no run wrote"]
    mine.redo_manifest("weights.bin")
    assert _problems(mine.folder) == ["manifest.json lists weights.bin, which no run writes"]


def test_a_folder_without_predictions_cannot_be_submitted(
    emoji: list[Path], tmp_path: Path
) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    shutil.rmtree(mine.folder / "predictions")
    mine.redo_manifest()
    (problem,) = _problems(mine.folder)
    assert "it keeps no predictions, so that its scores cannot be computed again" in problem


def test_two_results_of_one_spec(emoji: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    same = _check(emoji[0], mine.folder)
    assert same.problems == ()
    assert "one run is there 2 times" in same.notes[0]
    mine.change_decisions(0, lambda columns: columns["decisions"].fill(0))
    mine.rescore()
    mine.redo_manifest()
    problems = _problems(emoji[0], mine.folder)
    assert len(problems) == 2
    assert all("another result of the very same spec is in" in problem for problem in problems)


def test_answers_that_are_too_good_cannot_be_told(emoji: list[Path], tmp_path: Path) -> None:
    """What is consistent in itself is not proven: docs/howto/submitting.md says so."""
    mine = Tamperer(emoji[0], tmp_path)

    def right(columns: dict[str, Any]) -> None:
        columns["decisions"][9:] = columns["targets"][9:]

    for period in range(7):
        mine.change_decisions(period, right)
    mine.rescore()
    mine.redo_manifest()
    assert _problems(mine.folder) == []


def _drop_column(columns: dict[str, Any]) -> None:
    columns["decisions"] = np.zeros((len(columns["targets"]), 2, 6))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda mine: mine.change_decisions(0, _drop_column), "found what cannot be scored"),
        (
            lambda mine: (mine.folder / "predictions/000.parquet").write_bytes(b"PAR1"),
            "found a file that cannot be read",
        ),
        (
            lambda mine: (mine.folder / "scores.jsonl").write_text("{}\n"),
            "scores.jsonl in .* is damaged",
        ),
        (
            lambda mine: mine.change_lines(
                "scores.jsonl", lambda lines: [{**lines[0], "tested_on": 70}, *lines]
            ),
            "found one on period 70",
        ),
        (lambda mine: (mine.folder / "cost.json").write_text("[]"), "cost.json in .* is damaged"),
        (lambda mine: (mine.folder / "cost.json").unlink(), "expected cost.json in the manifest"),
        (
            lambda mine: mine.change_file("spec.json", lambda spec: spec.update(protocol={})),
            "spec.json in .* is damaged",
        ),
        (
            lambda mine: mine.change_file("spec.json", lambda spec: spec.update(task="magic")),
            "expected a known task kind, found 'magic'",
        ),
    ],
)
def test_nonsense_is_one_problem_and_no_traceback(
    emoji: list[Path], tmp_path: Path, change: Callable[[Tamperer], object], words: str
) -> None:
    mine = Tamperer(emoji[0], tmp_path)
    change(mine)
    mine.redo_manifest()
    found = _check(emoji[1], mine.folder)
    assert {finding.folder for finding in found.problems} == {mine.folder}
    assert re.search(words, found.problems[0].problem + found.problems[-1].problem)
