"""onward show: every format, several folders, and what is left out on the error stream."""

import csv
import io
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from terminal import Terminal
from tiny_runs import damage, tiny_runs, unfinished_run

import onward as package
from onward.checks.tiny import tiny_benchmark
from onward.results.read import find_folders


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_runs(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good run, a damaged one, one of the future and one that is not finished."""
    out = tiny_runs(tmp_path_factory.mktemp("spoiled"), ("nap",), 3)
    _, second, third = find_folders(out)
    damage(second)
    manifest = third / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema_version": 1', '"schema_version": 9'))
    unfinished_run(out)
    return out


def test_a_table_is_the_default(onward: Terminal, results: Path) -> None:
    code, out, err = onward("show", results)
    assert (code, err) == (0, "")
    assert "tiny" in out
    assert "over" in out
    assert onward("show", results, "--format", "table") == (code, out, err)


def test_every_format_names_every_method(onward: Terminal, results: Path) -> None:
    for form, mark in (("markdown", "| :-- |"), ("latex", r"\toprule"), ("csv", "benchmark,")):
        code, out, err = onward("show", results, "--format", form)
        assert (code, err) == (0, ""), err
        assert mark in out
        assert "finetune" in out
        assert "nap" in out


def test_json_is_an_alias(onward: Terminal, results: Path) -> None:
    _, out, _ = onward("show", results, "--format", "json")
    assert onward("show", results, "--json") == (0, out, "")
    assert {row["label"] for row in json.loads(out)} == {"finetune", "nap"}


def test_several_folders_are_one_table(onward: Terminal, results: Path, tmp_path: Path) -> None:
    tiny_runs(tmp_path, ("er",), 1)
    _, out, _ = onward("show", results, tmp_path, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["method"] for row in rows} == {"finetune", "nap", "er"}


def test_flat_results_are_written(onward: Terminal, results: Path, tmp_path: Path) -> None:
    code, out, _ = onward("show", results, "--out", tmp_path / "flat.parquet")
    table = pq.read_table(tmp_path / "flat.parquet")
    assert (code, out) == (0, f"{len(table)} rows of 4 runs in {tmp_path / 'flat.parquet'}\n")
    code, out, _ = onward("show", results, "--out", tmp_path / "runs.csv", "--rows", "runs")
    assert (code, out.startswith("4 rows of 4 runs")) == (0, True)


def test_bibtex_is_printed(onward: Terminal, results: Path) -> None:
    code, out, _ = onward("show", results, "--bibtex")
    assert code == 0
    assert "@inproceedings{lin2021," in out
    assert "@misc{onward," in out
    assert "% benchmark tiny: made by onward.checks" in out


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_what_is_left_out_is_told_apart_from_the_table(
    onward: Terminal, spoiled: Path, form: str
) -> None:
    code, out, err = onward("show", spoiled, "--format", form)
    assert code == 0
    assert "nap" in out
    assert "left out" not in out
    assert "scores.jsonl in" in err
    assert "newer Onward" in err
    assert "2 folders could not be read and are left out" in err
    assert "1 unfinished run is left out" in err
    assert "Traceback" not in err


def test_flat_results_of_a_spoiled_folder(onward: Terminal, spoiled: Path, tmp_path: Path) -> None:
    code, out, err = onward("show", spoiled, "--out", tmp_path / "flat.csv")
    assert code == 0
    assert "of 2 runs" in out
    assert "2 folders could not be read" in err


def test_nothing_that_can_be_read_is_an_error(onward: Terminal, tmp_path: Path) -> None:
    for folder in find_folders(tiny_runs(tmp_path, ("nap",), 2)):
        damage(folder)
    code, out, err = onward("show", tmp_path)
    assert (code, out) == (2, "")
    assert "expected at least one run that can be read, found none" in err


def test_runs_that_have_only_begun_are_no_error(onward: Terminal, tmp_path: Path) -> None:
    unfinished_run(tmp_path)
    for form in ("table", "markdown", "latex", "csv", "json"):
        code, _, err = onward("show", tmp_path, "--format", form)
        assert code == 0
        assert "1 unfinished run is left out" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "html"), "html"),
        (("--out", "flat.xlsx"), "expected a file that ends with .parquet or .csv"),
        (("--out", "a.csv", "--bibtex"), "expected one of --format"),
        (("--json", "--format", "csv"), "expected one of --format"),
        (("--metric", "clear.nex_domain"), "Did you mean 'clear.next_domain'?"),
    ],
)
def test_a_mistake_gets_one_message(
    onward: Terminal, results: Path, words: tuple[str, ...], message: str
) -> None:
    code, out, err = onward("show", results, *words)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_knows_no_blocks_is_no_traceback(
    onward: Terminal, results: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding, write_through=True))
    code, _, err = onward("show", results)
    assert (code, err) == (0, "")
    shown = written.getvalue().decode(encoding)
    assert "finetune" in shown
    assert "over time" not in shown


def test_a_run_that_was_resumed_elsewhere_is_named(onward: Terminal, tmp_path: Path) -> None:
    folder = unfinished_run(tmp_path)
    package.run(tiny_benchmark(), "scratch", out=tmp_path, threads=2)
    assert (folder / "resumed.jsonl").is_file()
    code, out, err = onward("show", tmp_path)
    assert code == 0
    assert "1 run was resumed with another number of threads" in err
    assert "repeats are not bit-identical" in err
    assert "resumed" not in out
