"""One odd folder among good ones is a finding, whatever is odd about it, and never a traceback."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tamper import Tamperer

import onward
from onward.benchmarks.rules import rules
from onward.checks.tiny import tiny_benchmark
from onward.results.check_many import check_results
from onward.results.collect import collect

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("runs")
    made = [onward.run(tiny_benchmark(), "finetune", seed=seed, out=out).path for seed in (0, 1)]
    return [path for path in made if path is not None]


def _file(name: str, **changes: Any) -> Callable[[Tamperer], None]:
    def change(mine: Tamperer) -> None:
        mine.change_file(name, lambda content: content.update(changes))
        if name != "manifest.json":
            mine.redo_manifest()

    return change


def _protocol(**changes: Any) -> Callable[[Tamperer], None]:
    def change(mine: Tamperer) -> None:
        mine.change_file("spec.json", lambda content: content["protocol"].update(changes))
        mine.redo_manifest()

    return change


def _text(name: str, text: str) -> Callable[[Tamperer], None]:
    def change(mine: Tamperer) -> None:
        (mine.folder / name).write_text(text)
        if name != "manifest.json":
            mine.redo_manifest()

    return change


def _listed(name: str, **changes: Any) -> Callable[[Tamperer], None]:
    """List a file as spec.json is, with another name or size."""

    def change(mine: Tamperer) -> None:
        def add(content: dict[str, Any]) -> None:
            content["files"][name] = {**content["files"]["spec.json"], **changes}

        mine.change_file("manifest.json", add)

    return change


def _digit(mine: Tamperer) -> None:
    name = "predictions/\N{SUPERSCRIPT TWO}.parquet"
    shutil.copy(mine.folder / "predictions/000.parquet", mine.folder / name)
    mine.redo_manifest(name)


def _twice(mine: Tamperer) -> None:
    name = "predictions/0000.parquet"
    shutil.copy(mine.folder / "predictions/000.parquet", mine.folder / name)
    mine.redo_manifest(name)


def _classes(mine: Tamperer) -> None:
    path = mine.folder / "predictions/000.parquet"
    table = pq.read_table(path).replace_schema_metadata({"classes": DEEP})
    pq.write_table(table, path)
    mine.redo_manifest()


def _words(mine: Tamperer) -> None:
    path = mine.folder / "predictions/000.parquet"
    table = pq.read_table(path)
    words = pa.array(["many"] * len(table))
    place = table.column_names.index("decision")
    pq.write_table(table.set_column(place, "decision", words), path)
    mine.redo_manifest()


def _infinite(mine: Tamperer) -> None:
    scores = {"accuracy": np.inf, "class_mean_accuracy": np.inf}
    mine.change_lines("scores.jsonl", lambda lines: [{**n, "scores": scores} for n in lines])
    mine.redo_manifest()


@pytest.mark.parametrize(
    ("damage", "words", "readable"),
    [
        (_listed("spec.json", size=10**30), "expected 1000000", True),
        (_listed("spec.json", size=10**14), "expected 1000000", True),
        (_listed("spec.json", size=-1), "manifest.json", False),
        (_listed("a\0b"), "expected a", True),
        (_listed("predictions/a\0b"), "expected predictions/a", False),
        (_digit, "which no run writes", True),
        (_twice, "0000.parquet, which no run writes", True),
        (_text("manifest.json", DEEP), "manifest.json in", False),
        (_text("spec.json", DEEP), "spec.json in", False),
        (_classes, "found a file that cannot be read", True),
        (_words, "found what cannot be scored", True),
        (_protocol(exempt=5), "spec.json in", False),
        (_protocol(limits=5), "spec.json in", False),
        (_protocol(limits={"macs": "x"}), "spec.json in", False),
        (_file("cost.json", cpu_seconds=-1), "cost.json in", False),
        (_file("cost.json", macs=-1), "cost.json in", False),
        (_file("cost.json", wall_seconds=float("nan")), "cost.json in", False),
        (_text("cost.json", "{}"), "says nothing of cpu_seconds", False),
        (_infinite, "scores.jsonl says", False),
        (_text("env.json", "{}"), "env.json in", True),
        (_text("env.json", "text"), "env.json in", True),
        (_file("spec.json", schema_version=0), "expected a version of 1 or more, found 0", False),
        (_file("spec.json", schema_version=-1), "expected a version of 1 or more", False),
        (_file("manifest.json", schema_version=True), "of 1 or more, found True", False),
        (_file("spec.json", limits={"bananas": 10}), "found 'bananas'", True),
    ],
)
def test_an_odd_folder_is_a_finding(
    runs: list[Path],
    tmp_path: Path,
    damage: Callable[[Tamperer], None],
    words: str,
    *,
    readable: bool,
) -> None:
    mine = Tamperer(runs[0], tmp_path / "mine")
    damage(mine)
    found = check_results([runs[1], mine.folder], rules=rules())
    assert set(found.wrong) == {mine.folder}
    said = " ".join(found.wrong[mine.folder])
    assert words in said
    collected = collect([runs[1], mine.folder])
    left_out = [each.folder for each in collected.left_out]
    assert left_out == ([] if readable else [mine.folder])


def test_a_limit_that_is_no_number(runs: list[Path], tmp_path: Path) -> None:
    mine = Tamperer(runs[0], tmp_path)
    path = mine.folder / "spec.json"
    spec = json.loads(path.read_text())
    path.write_text(json.dumps({**spec, "limits": {"macs": float("nan")}}))
    mine.redo_manifest()
    problems = check_results([mine.folder], rules=rules()).wrong[mine.folder]
    assert "expected a number of 0 or more as the limit of macs, found nan" in problems
