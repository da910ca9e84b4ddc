"""What differs between two runs, down to the single answers."""

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up import make_record
from rich.console import Console
from tiny_runs import respecced, tiny_runs

import onward
from onward.benchmarks import BENCHMARKS
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_editions import tiny_like
from onward.errors import OnwardError
from onward.report.difference import difference
from onward.report.difference_terminal import parts
from onward.report.fields import Change
from onward.report.sides import Group, Side, paired, read_side
from onward.results.record import RunRecord


def one(given: Path) -> Group:
    (group,) = read_side(str(given)).groups
    return group


def group(*records: RunRecord) -> Group:
    return Group(records[0].spec.method, records[0].spec, records)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tiny_runs(tmp_path_factory.mktemp("results"), ("finetune", "nap"), 2)
    return tiny_runs(out, ("er",), 2, memory=7)


def test_a_run_is_the_same_as_its_copy(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "tiny" / "nap", tmp_path / "copy")
    found = difference(one(results / "tiny" / "nap"), one(tmp_path / "copy"))
    assert found.same
    assert found.same_scores
    assert found.spec == found.cells == found.environment == found.cost == []
    assert all(not test.different for test in found.answers)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["same"] is True


def test_the_same_run_made_twice_differs_in_its_cost_alone(results: Path, tmp_path: Path) -> None:
    again = tiny_runs(tmp_path, ("er",), 2, memory=7)
    found = difference(one(results / "tiny" / "er"), one(again))
    assert found.same
    assert {change.field for change in found.cost} <= {"cpu_seconds", "peak_memory_bytes"}


def test_two_methods_differ_in_spec_scores_and_answers(results: Path) -> None:
    a, b = one(results / "tiny" / "er"), one(results / "tiny" / "nap")
    found = difference(a, b)
    assert not found.same
    assert {change.field for change in found.spec} == {"method", "method_options.memory"}
    assert Change("method_options.memory", 7, None) in found.spec
    assert found.seeds == [0, 1]
    assert found.comparable
    expected = np.mean([r.matrix() for r in a.records], 0) - np.mean(
        [r.matrix() for r in b.records], 0
    )
    sizes = [abs(cell.difference) for cell in found.cells]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == pytest.approx(np.nanmax(abs(expected)))
    assert found.cells_differing == np.count_nonzero(expected)
    assert found.cells_shared == 16
    verdicts = {metric.name: metric.paired.verdict for metric in found.metrics}
    assert verdicts["next_domain"].answer == "cannot tell"
    assert verdicts["next_domain"].needed == 6


def test_answers_are_counted_as_mcnemar_does(results: Path) -> None:
    a, b = one(results / "tiny" / "er"), one(results / "tiny" / "nap")
    (found,) = difference(a, b).answers
    answers = different = only_a = only_b = 0
    for x, y in zip(a.records, b.records, strict=True):
        for period in x.decisions:
            (p, _), (q, _) = x.decisions[period], y.decisions[period]
            assert p.column("id").equals(q.column("id"))
            target, said, other = (
                column.to_numpy()
                for column in (p.column("target"), p.column("decision"), q.column("decision"))
            )
            answers += len(p)
            different += int((said != other).sum())
            only_a += int(((said == target) & (other != target)).sum())
            only_b += int(((said != target) & (other == target)).sum())
    counted = (found.answers, found.different, found.only_a, found.only_b)
    assert counted == (answers, different, only_a, only_b)
    assert len(found.first) == 5
    first = found.first[0]
    assert (first.seed, first.learned_upto in a.spec.periods) == (0, True)


def test_samples_are_matched_by_id_whatever_their_order(results: Path) -> None:
    a, b = one(results / "tiny" / "er"), one(results / "tiny" / "nap")
    x, y = a.records[0], b.records[0]
    turned = {
        period: (table.take(np.arange(len(table))[::-1]), names)
        for period, (table, names) in y.decisions.items()
    }
    straight = difference(group(x), group(y)).answers
    mixed = difference(group(x), group(replace(y, decisions=turned))).answers
    assert straight == mixed


def test_seeds_are_paired_and_told_where_they_differ(make: Callable) -> None:
    a = group(*(make([[0.5, 0.6], [0.5, 0.6]], seed=seed) for seed in (0, 1)))
    b = group(*(make([[0.4, 0.5], [0.4, 0.5]], method="er", seed=seed) for seed in (1, 2)))
    found = difference(a, b)
    assert found.seeds == [1]
    assert Change("seeds", [0, 1], [1, 2]) in found.spec
    assert found.metrics[0].paired.seeds == (1,)


def test_two_single_runs_are_compared_whatever_their_seeds(make: Callable) -> None:
    found = difference(group(make([[0.5]])), group(make([[0.25]], seed=3)))
    assert found.spec == [Change("seed", 0, 3)]
    assert found.same_scores is False
    assert found.cells[0].difference == 0.25
    assert found.metrics[0].paired is None


def test_scores_on_other_data_are_not_compared_seed_by_seed(make: Callable) -> None:
    other = make([[0.5]], data_digest="e" * 64)
    found = difference(group(make([[0.5]])), group(other))
    assert not found.comparable
    assert all(metric.paired is None for metric in found.metrics)


@pytest.mark.parametrize(
    "name", ["iirc", "clad-c", pytest.param("clad-d", marks=pytest.mark.slow), "tic"]
)
def test_answers_of_every_kind_can_be_held_side_by_side(name: str) -> None:
    made = tiny_like(BENCHMARKS[name])
    a, b = (onward.run(made, method) for method in ("finetune", "nap"))
    found = difference(group(a), group(b))
    assert found.answers
    for test in found.answers:
        assert 0 <= test.different <= test.answers
        if name == "clad-d":
            assert test.only_a is None
        else:
            assert test.only_a + test.only_b <= test.different
    assert not any(test.different for test in difference(group(a), group(a)).answers)


def test_specs_in_files_are_compared_field_by_field(results: Path, tmp_path: Path) -> None:
    folder = next((results / "tiny" / "er").iterdir())
    changed = respecced(folder, tmp_path / "spec.json", method_options={"memory": 9}, seed=5)
    a, b = one(folder / "spec.json"), one(changed)
    found = difference(a, b)
    assert found.same_scores is None
    assert Change("method_options.memory", 7, 9) in found.spec
    assert difference(a, a).same


def test_folders_are_paired_by_spec_then_by_method(results: Path, tmp_path: Path) -> None:
    other = tiny_runs(tmp_path, ("finetune", "scratch"), 1)
    tiny_runs(other, ("er",), 1, memory=9)
    pairs, only_a, only_b = paired(read_side(str(results)), read_side(str(other)))
    assert {(a.label, b.label) for a, b in pairs} == {
        ("finetune", "finetune"),
        ("er(memory=7)", "er(memory=9)"),
    }
    assert [group.label for group in only_a] == ["nap"]
    assert [group.label for group in only_b] == ["scratch"]


def test_two_methods_are_paired_stream_by_stream(make: Callable) -> None:
    def side(method: str) -> Side:
        runs = [make([[0.5]], method=method, protocol=name) for name in ("iid", "streaming")]
        return Side("", tuple(Group(method, run.spec, (run,)) for run in runs))

    pairs, only_a, only_b = paired(side("er"), side("nap"))
    assert [(a.name, b.name) for a, b in pairs] == [
        (f"er on clear/made-up, {name}", f"nap on clear/made-up, {name}")
        for name in ("iid", "streaming")
    ]
    assert only_a == only_b == []


def test_a_doubtful_pair_is_none(make: Callable) -> None:
    def side(*memories: int) -> Side:
        runs = [make([[0.5]], method="er", method_options={"memory": m}) for m in memories]
        return Side(
            "", tuple(Group(f"er({m})", r.spec, (r,)) for m, r in zip(memories, runs, strict=True))
        )

    pairs, only_a, only_b = paired(side(1, 2), side(2, 3, 4))
    assert [(a.label, b.label) for a, b in pairs] == [("er(2)", "er(2)")]
    assert [group.label for group in only_a] == ["er(1)"]
    assert [group.label for group in only_b] == ["er(3)", "er(4)"]


def test_a_run_is_found_by_the_beginning_of_its_hash(results: Path) -> None:
    folder = next((results / "tiny" / "nap").iterdir())
    side = read_side(folder.name[:10], results)
    assert side.groups[0].records[0].spec.hash == folder.name


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere", "found nothing at nowhere"),
        ("0000", "expected one run whose hash begins with 0000, found none"),
        ("holiday.json", "expected the spec of a run as JSON"),
    ],
)
def test_what_is_no_run_is_refused(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("holiday.json").write_text('{"sun": true}')
    with pytest.raises(OnwardError, match=message):
        read_side(given, results)


def test_streaming_against_iid_shares_no_cells_it_should_not(tmp_path: Path) -> None:
    made = tiny_benchmark("streaming"), tiny_benchmark("iid")
    a, b = (onward.run(benchmark, "nap") for benchmark in made)
    found = difference(group(a), group(b))
    assert not found.comparable
    assert found.cells_shared == 6


def test_a_field_that_is_missing_is_not_one_that_is_called_none() -> None:
    console = Console(file=io.StringIO(), width=100)
    recipes = ({}, {"augment": "none"})
    a, b = (group(make_record([[0.5]], recipe=recipe)) for recipe in recipes)
    for part in parts(difference(a, b)):
        console.print(part)
    line = next(row for row in console.file.getvalue().splitlines() if "recipe.augment" in row)
    assert line.split() == ["recipe.augment", "not", "there", "none"]
