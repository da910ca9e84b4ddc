"""Flat results: a row per score or run, the same numbers, read one run at a time."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tiny_runs import damage, tiny_runs, unfinished_run

from onward.checks.tiny import tiny_benchmark
from onward.errors import OnwardError
from onward.report.exchange import SCORES, write_flat
from onward.results.read import find_folders
from onward.results.record import load_record


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tiny_runs(tmp_path_factory.mktemp("results"))
    tiny_runs(out, ("er",), 1, memory=7)
    return tiny_runs(out, ("nap",), 1, tiny_benchmark("streaming"))


def test_every_score_is_a_row(results: Path, tmp_path: Path) -> None:
    written = write_flat([results], tmp_path / "flat.parquet")
    table = pq.read_table(tmp_path / "flat.parquet")
    assert table.schema.equals(SCORES)
    assert (written.runs, written.rows, written.left_out) == (6, len(table), ())
    rows = {
        (row["run"], row["learned_upto"], row["tested_on"], row["test"], row["metric"]): row
        for row in table.to_pylist()
    }
    assert len(rows) == len(table)
    for folder in find_folders(results):
        record = load_record(folder)
        for score in record.scores:
            for name, value in score.scores.items():
                key = (record.spec.hash, score.learned_upto, score.tested_on, score.test, name)
                row = rows.pop(key)
                assert (row["value"], row["samples"]) == (value, score.samples)
                assert row["learned_upto_name"] == record.spec.periods[score.learned_upto]
                assert row["seed"] == record.spec.seed
                assert json.loads(row["options"]) == record.spec.method_options
    assert rows == {}


def test_labels_are_those_of_the_tables(results: Path, tmp_path: Path) -> None:
    write_flat([results], tmp_path / "flat.parquet")
    labels = set(pq.read_table(tmp_path / "flat.parquet").column("label").to_pylist())
    assert labels == {"finetune", "nap", "er(memory=7)"}


def test_csv_holds_the_same_rows(results: Path, tmp_path: Path) -> None:
    for name in ("flat.parquet", "flat.csv"):
        write_flat([results], tmp_path / name)
    types = {field.name: field.type for field in SCORES}
    options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    read = pa.csv.read_csv(tmp_path / "flat.csv", convert_options=options)
    assert read.equals(pq.read_table(tmp_path / "flat.parquet"))


def test_polars_reads_both(results: Path, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    for name in ("flat.parquet", "flat.csv"):
        write_flat([results], tmp_path / name)
    first, second = (
        polars.read_parquet(tmp_path / "flat.parquet"),
        polars.read_csv(tmp_path / "flat.csv"),
    )
    assert first.height == second.height
    assert first["value"].to_list() == second["value"].to_list()


def test_a_row_per_run_has_metrics_and_cost(results: Path, tmp_path: Path) -> None:
    written = write_flat([results], tmp_path / "runs.parquet", "runs")
    rows = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert written.rows == len(rows) == 6
    for row in rows:
        folder = next(results.glob(f"*/*/{row['run']}"))
        record = load_record(folder)
        matrix = record.matrix()
        assert row["final"] == pytest.approx(matrix[-1].mean(), nan_ok=True) or (
            row["final"] is None and row["protocol"] == "streaming"
        )
        assert (row["in_domain"] is None) == (row["protocol"] == "streaming")
        assert row["cpu_seconds"] == record.cost.cpu_seconds
        assert row["stored_samples"] == record.cost.stored_samples


def test_unfinished_runs_are_there_as_far_as_they_are(tmp_path: Path) -> None:
    out = tiny_runs(tmp_path / "results", ("nap",), 1)
    unfinished_run(out)
    written = write_flat([out], tmp_path / "flat.parquet")
    assert (written.runs, written.unfinished) == (2, 1)
    rows = pq.read_table(tmp_path / "flat.parquet").to_pylist()
    begun = [row for row in rows if not row["complete"]]
    assert {row["learned_upto"] for row in begun} == {0, 1}
    assert write_flat([out], tmp_path / "runs.csv", "runs").rows == 1


def test_damaged_folders_are_named_and_the_rest_is_written(tmp_path: Path) -> None:
    out = tiny_runs(tmp_path / "results", ("nap",), 2)
    broken = damage(next(iter(find_folders(out))))
    written = write_flat([out], tmp_path / "flat.csv")
    assert [one.folder for one in written.left_out] == [broken]
    assert written.runs == 1


def test_a_run_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    first = tiny_runs(tmp_path / "first", ("nap",), 1)
    shutil.copytree(first, tmp_path / "second")
    roots = [first, tmp_path / "second"]
    assert write_flat(roots, tmp_path / "flat.csv").runs == 1


def test_another_file_is_refused(results: Path, tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match=r"ends with \.parquet or \.csv, found 'flat\.xlsx'"):
        write_flat([results], tmp_path / "flat.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_tests_between_two_calls_are_rows_with_what_was_seen(tmp_path: Path) -> None:
    from onward.benchmarks import BENCHMARKS
    from onward.checks.tiny_editions import tiny_like

    made = tiny_like(BENCHMARKS["clad-c"])
    out = tiny_runs(tmp_path / "results", ("nap",), 1, made)
    write_flat([out], tmp_path / "flat.parquet")
    rows = pq.read_table(tmp_path / "flat.parquet").to_pylist()
    record = load_record(next(iter(find_folders(out))))
    between = [row for row in rows if row["seen"] is not None]
    assert len(between) == sum(len(point.scores) for point in record.points)
    assert all(row["learned_upto"] is None for row in between)
    assert all(row["tested_on"] is None for row in rows)
