"""Good folders among bad ones: the bad are named and counted, and spoil nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tamper import Tamperer

import onward
from onward.checks.tiny import tiny_benchmark
from onward.errors import OnwardError
from onward.report.summary import summarise, unfinished
from onward.results.collect import collect
from onward.turns import Event


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("good")
    for seed in (0, 1):
        onward.run(tiny_benchmark(), "finetune", seed=seed, out=out)
    return out


def _one(good: Path) -> Path:
    return next(path.parent for path in sorted(good.rglob("spec.json")))


def test_good_folders_are_all_there_and_each_once(good: Path) -> None:
    found = collect([good, good / "tiny", _one(good)])
    assert [record.spec.seed for record in sorted(found.records, key=lambda r: r.spec.seed)] == [
        0,
        1,
    ]
    assert found.left_out == ()


def _newer(mine: Tamperer) -> None:
    mine.change_file("manifest.json", lambda content: content.update(schema_version=2))


def _other_scores(mine: Tamperer) -> None:
    mine.change_lines("scores.jsonl", lambda lines: [{**n, "scores": {"luck": 1}} for n in lines])
    mine.redo_manifest()


def _other_task(mine: Tamperer) -> None:
    mine.change_spec(task="magic")
    mine.redo_manifest()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda mine: (mine.folder / "scores.jsonl").write_text("{}"), "scores.jsonl in"),
        (lambda mine: (mine.folder / "manifest.json").write_text("{"), "manifest.json in"),
        (lambda mine: (mine.folder / "spec.json").unlink(), "expected spec.json in"),
        (lambda mine: (mine.folder / "predictions/002.parquet").unlink(), "predictions/002"),
        (_newer, "newer Onward (version 2 of manifest.json)"),
        (_other_scores, "expected a score accuracy in every cell"),
        (_other_task, "the task kind 'magic', which is not known here"),
    ],
)
def test_a_damaged_one_is_left_out_and_named(
    good: Path, tmp_path: Path, damage: Any, words: str
) -> None:
    mine = Tamperer(_one(good), tmp_path)
    damage(mine)
    found = collect([good, tmp_path])
    assert len(found.records) == 2
    (left_out,) = found.left_out
    assert left_out.folder == mine.folder
    assert words in left_out.reason
    (summary,) = summarise(found.records)
    assert summary.seeds == (0, 1)


def test_a_run_that_is_there_twice_counts_once(good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "copy")
    found = collect([good, tmp_path])
    assert len(found.records) == 2
    assert found.left_out == ()


def test_two_results_of_one_run_are_both_left_out(good: Path, tmp_path: Path) -> None:
    mine = Tamperer(_one(good), tmp_path)
    mine.change_decisions(0, lambda columns: columns["decisions"].fill(0))
    mine.rescore()
    mine.redo_manifest()
    found = collect([good, tmp_path])
    assert len(found.records) == 1
    assert {each.folder for each in found.left_out} == {_one(good), mine.folder}
    assert all("found two that differ" in each.reason for each in found.left_out)


def test_what_is_unfinished_is_there_unless_it_is_finished_elsewhere(
    good: Path, tmp_path: Path
) -> None:
    class StopError(Exception):
        pass

    def stop(event: Event) -> None:
        if event.kind == "tested" and event.period == 1:
            raise StopError

    for seed in (0, 2):
        with pytest.raises(StopError):
            onward.run(tiny_benchmark(), "finetune", seed=seed, out=tmp_path, watch=stop)
    found = collect([good, tmp_path])
    assert [record.spec.seed for record in unfinished(found.records)] == [2]
    assert len(found.records) == 3
    # One that has only just begun has no manifest.
    begun = tmp_path / "tiny" / "nap" / ("0" * 16)
    shutil.copytree(_one(good), begun, ignore=shutil.ignore_patterns("manifest.json"))
    assert len(collect([begun]).records) == 1


def test_nothing_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="expected run folders below"):
        collect([tmp_path])
    with pytest.raises(OnwardError, match="found nothing at"):
        collect([tmp_path / "none"])
