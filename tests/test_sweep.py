from pathlib import Path

import pytest

from onward.benchmarks import Source
from onward.errors import BudgetSpentError, OnwardError
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.sweep import Job, sweep


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


def test_a_worker_that_dies_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import os\n"
        "class Dies:\n"
        "    def learn(self, view, budget): os._exit(9)\n"
        "    def predict(self, view): return []\n"
    )
    out = tmp_path / "out"
    sweep(_jobs("nap"), out, workers=2)
    with pytest.raises(OnwardError, match="a worker process ended"):
        sweep(_jobs("nap", f"{source}:Dies"), out, workers=2)
    done = [folder for folder in find_folders(out) if "nap" in str(folder)]
    assert len(done) == 2
    assert all(check_folder(folder) == [] for folder in done)


def test_a_refusal_in_a_worker_is_the_same_refusal_here(tmp_path: Path) -> None:
    jobs = [
        Job(Source("clear", protocol="iid"), "cumulative", seed, limits={"stored_samples": 10})
        for seed in range(2)
    ]
    with pytest.raises(BudgetSpentError, match="stored_samples = 10"):
        sweep(jobs, tmp_path, workers=2)
