from pathlib import Path

import pytest

from onward.benchmarks import Source
from onward.errors import FileImportError
from onward.failures import RunsFailedError
from onward.learners import choose
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.sweep import Job, bundled, sweep


def _jobs(*methods: str, seeds: int = 2) -> list[Job]:
    return [Job(Source("clear"), method, seed) for method in methods for seed in range(seeds)]


def test_two_workers_give_what_one_gives(tmp_path: Path) -> None:
    kinds: list[tuple[str, int]] = []
    jobs = _jobs("nap")
    records = sweep(
        jobs,
        tmp_path / "two",
        workers=2,
        watch=lambda event: kinds.append((event.kind, event.spec.seed)),
    )
    alone = sweep(jobs, tmp_path / "one", workers=1)
    assert [record.spec.seed for record in records] == [0, 1]
    assert [record.scores for record in records] == [record.scores for record in alone]
    assert {("done", 0), ("done", 1)} <= set(kinds)


FAILS = """
import os
from pathlib import Path
import numpy as np

class Constant:
    def __init__(self, setting):
        self.seed = setting.seed
    def learn(self, view, budget):
        pass
    def predict(self, view):
        return np.zeros(len(view), np.int64)

class RaisesOnSeedOne(Constant):
    def learn(self, view, budget):
        if self.seed == 1:
            raise ValueError("boom\\nin two lines")

class RaisesWhenBuilt(Constant):
    def __init__(self, setting):
        raise ValueError("boom")

class RaisesIfFileExists(Constant):
    def learn(self, view, budget):
        if Path(__file__).with_name("fail").exists():
            raise ValueError("boom")

class ExitsOnSeedOne(Constant):
    def learn(self, view, budget):
        if self.seed == 1:
            with open(Path(__file__).with_name("attempts"), "a") as file:
                file.write("x")
            os._exit(9)

class CallsSysExitOnSeedZero(Constant):
    def learn(self, view, budget):
        if self.seed == 0:
            raise SystemExit(3)
"""


@pytest.fixture
def fails(tmp_path: Path) -> Path:
    """A file with methods that fail."""
    path = tmp_path / "fails.py"
    path.write_text(FAILS)
    return path


def _line(text: str) -> int:
    return FAILS[: FAILS.index(text)].count("\n") + 1


@pytest.mark.parametrize("workers", [1, 2])
def test_one_run_that_raises_leaves_seven_to_finish(
    tmp_path: Path, fails: Path, workers: int
) -> None:
    jobs = _jobs("nap", "finetune", "er", f"{fails}:RaisesOnSeedOne")
    kinds: list[str] = []
    with pytest.raises(RunsFailedError, match="1 of 8 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=workers, watch=lambda e: kinds.append(e.kind))
    results, (failed,) = found.value.results, found.value.failed
    assert results.index(failed) == 7
    assert [record.spec.seed for record in found.value.records] == [0, 1, 0, 1, 0, 1, 0]
    assert all(record.complete for record in found.value.records)
    assert (kinds.count("done"), kinds.count("failed")) == (7, 1)
    assert found.value.exit_code == 1
    assert (failed.method, failed.seed, failed.error) == ("RaisesOnSeedOne", 1, "ValueError")
    assert failed.stage == f"learning period {found.value.records[0].spec.periods[0]}"
    line = _line('raise ValueError("boom\\nin')
    assert failed.location == f"{fails}, line {line}"
    short = f"{failed.stage}: ValueError: boom ({fails}, line {line}). Traceback: {failed.file}"
    assert f"- RaisesOnSeedOne, seed 1, {short}\n" in str(found.value)
    assert failed.file is not None
    assert failed.file.read_text().endswith("ValueError: boom\nin two lines\n")


def test_a_changed_method_file_is_run_and_finished_runs_are_not_repeated(
    tmp_path: Path, fails: Path
) -> None:
    names = ["nap", "finetune", "er", "ewc", "si", "lwf", "agem", f"{fails}:RaisesWhenBuilt"]
    with pytest.raises(RunsFailedError) as found:
        sweep(_jobs(*names, seeds=1), tmp_path / "out")
    (failed,) = found.value.failed
    assert (failed.stage, failed.location) == (
        None,
        f"{fails}, line {_line('raise ValueError') + 4}",
    )
    assert failed.file is not None
    fails.write_text(FAILS.replace('raise ValueError("boom")', "pass"))
    kinds: list[str] = []
    records = sweep(_jobs(*names, seeds=1), tmp_path / "out", watch=lambda e: kinds.append(e.kind))
    assert [record.spec.method for record in records] == [*names[:-1], "RaisesWhenBuilt"]
    assert (kinds.count("done before"), kinds.count("done")) == (7, 1)
    assert all(check_folder(folder) == [] for folder in find_folders(tmp_path / "out"))


def test_a_run_that_failed_is_tried_again_and_leaves_no_traceback_when_complete(
    tmp_path: Path, fails: Path
) -> None:
    jobs = _jobs(f"{fails}:RaisesIfFileExists", seeds=1)
    (tmp_path / "fail").touch()
    with pytest.raises(RunsFailedError) as found:
        sweep(jobs, tmp_path / "out")
    (file,) = (tmp_path / "out").rglob("error.txt")
    assert found.value.failed[0].file == file
    (problem,) = check_folder(file.parent)
    assert "It failed, see error.txt there" in problem.problem
    (tmp_path / "fail").unlink()
    (record,) = sweep(jobs, tmp_path / "out")
    assert record.path == file.parent
    assert check_folder(file.parent) == []
    assert not file.exists()


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_own_run_only(tmp_path: Path, fails: Path) -> None:
    jobs = _jobs("nap", f"{fails}:CallsSysExitOnSeedZero", f"{fails}:ExitsOnSeedOne")
    # Runs of one seed are one bundle, and share a worker.
    assert sorted(len(bundle) for bundle in bundled(jobs, 2)) == [3, 3]
    with pytest.raises(RunsFailedError, match="2 of 6 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=2)
    stopped, died = found.value.failed
    assert [found.value.results.index(failed) for failed in (stopped, died)] == [2, 5]
    assert [record.complete for record in found.value.records] == [True] * 4
    assert (stopped.seed, stopped.error, stopped.message) == (0, "SystemExit", "3")
    assert died.seed == 1
    assert died.message == "its worker process ended with exit code 9 before the run was finished"
    assert died.stage == f"learning period {found.value.records[0].spec.periods[0]}"
    # Once among others, and once more on its own.
    assert (tmp_path / "attempts").read_text() == "xx"


def test_a_method_file_that_cannot_be_imported_fails_its_own_runs_only(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    jobs = _jobs("nap", f"{tmp_path / 'broken.py'}:Mine")
    with pytest.raises(RunsFailedError, match="2 of 4 runs failed") as found:
        sweep(jobs, tmp_path / "out")
    assert [record.spec.seed for record in found.value.records] == [0, 1]
    assert [failed.error for failed in found.value.failed] == ["FileImportError"] * 2
    assert "broken.py, line 1, cannot be imported: ModuleNotFoundError" in str(found.value)
    assert found.value.exit_code == 2


def test_an_onward_error_in_a_worker_is_reported_with_its_own_text(tmp_path: Path) -> None:
    jobs = [
        Job(Source("clear", protocol="iid"), "cumulative", seed, limits={"stored_samples": 10})
        for seed in range(2)
    ]
    with pytest.raises(RunsFailedError, match=r"the budget allows stored_samples = 10") as found:
        sweep(jobs, tmp_path, workers=2)
    assert found.value.exit_code == 2


EXITS = """
import sys

class Exits:
    def learn(self, view, budget): sys.exit(0)
    def predict(self, view): return []

class WithoutText(Exception):
    def __str__(self): raise RuntimeError("no text")

class Raises(Exits):
    def learn(self, view, budget): raise WithoutText
"""


@pytest.mark.parametrize(("name", "error"), [("Exits", "SystemExit"), ("Raises", "WithoutText")])
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_exit_or_exception_without_text_fails_its_own_run_only(
    tmp_path: Path, name: str, error: str, workers: int
) -> None:
    (tmp_path / "exits.py").write_text(EXITS)
    methods = (f"{tmp_path / 'exits.py'}:{name}", "nap")
    jobs = [Job(Source("clear"), method, 0) for method in methods]
    with pytest.raises(RunsFailedError, match="1 of 2 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=workers)
    assert [failed.error for failed in found.value.failed] == [error]
    assert [record.spec.method for record in found.value.records] == ["nap"]


def test_exit_at_import_of_a_method_file_is_an_import_error(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("raise SystemExit(0)")
    with pytest.raises(FileImportError, match="cannot be imported: SystemExit"):
        choose(f"{tmp_path / 'script.py'}:Any")
