"""Runs as jobs of Slurm: on this machine with submitit alone, and through a Slurm on loopback."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from loopback_slurm import loopback_slurm

from onward.benchmarks import Source
from onward.errors import OnwardError
from onward.executors.event_files import EventReader, EventWriter
from onward.executors.executor import Request
from onward.executors.slurm import SlurmExecutor
from onward.executors.slurm_queue import SlurmQueue
from onward.failures import RunsFailedError
from onward.hardware import Hardware
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.schema import RunSpec
from onward.sweep import Job, sweep
from onward.turns import Event

METHODS = """
import os, signal, time
from pathlib import Path
import numpy as np
from onward.methods.finetune import Finetune

class Constant:
    def __init__(self, setting):
        self.seed = setting.seed
    def learn(self, view, budget):
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        Path(__file__).with_name(f"gpus-{self.seed}").write_text(gpus)
    def predict(self, view):
        return np.zeros(len(view), np.int64)

class RaisesOnSeedOne(Constant):
    def learn(self, view, budget):
        if self.seed == 1 and not Path(__file__).with_name("fixed").exists():
            raise ValueError("boom")

class ExitsOnSeedOne(Constant):
    def learn(self, view, budget):
        if self.seed == 1:
            os._exit(9)

class Waits(Constant):
    def learn(self, view, budget):
        Path(__file__).with_name(f"learning-{self.seed}").touch()
        while not Path(__file__).with_name("continue").exists():
            time.sleep(0.1)

class PreemptedOnce(Finetune):
    def training_data(self, new, budget):
        mark = Path(__file__).with_name(f"preempted-{self.setting.seed}")
        if getattr(self, "again", False) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGUSR2)
            time.sleep(60)
        self.again = True
        return super().training_data(new, budget)
"""
LOCAL = {"cluster": "local"}


@pytest.fixture
def methods(tmp_path: Path) -> Path:
    path = tmp_path / "methods.py"
    path.write_text(METHODS)
    return path


def _jobs(*methods: str, seeds: int = 2) -> list[Job]:
    source = Source("clear", protocol="streaming")
    return [Job(source, method, seed) for seed in range(seeds) for method in methods]


@pytest.mark.slow
def test_a_run_that_raises_leaves_the_others_to_finish_and_is_tried_again(
    tmp_path: Path, methods: Path
) -> None:
    jobs = _jobs("nap", f"{methods}:RaisesOnSeedOne")
    kinds: list[str] = []
    out = tmp_path / "out"
    with pytest.raises(RunsFailedError, match="1 of 4 runs failed") as found:
        sweep(jobs, out, workers=2, on="slurm", slurm=LOCAL, watch=lambda e: kinds.append(e.kind))
    (failed,) = found.value.failed
    assert (failed.seed, failed.error, failed.message) == (1, "ValueError", "boom")
    assert (kinds.count("done"), kinds.count("failed")) == (3, 1)
    (tmp_path / "fixed").touch()
    kinds.clear()
    records = sweep(
        jobs, out, workers=2, on="slurm", slurm=LOCAL, watch=lambda e: kinds.append(e.kind)
    )
    assert [record.spec.seed for record in records] == [0, 0, 1, 1]
    assert (kinds.count("done before"), kinds.count("done")) == (3, 1)
    folders = list(find_folders(out))
    assert len(folders) == 4
    assert all(check_folder(folder) == [] for folder in folders)


@pytest.mark.slow
def test_a_preempted_job_is_requeued_and_resumes_from_its_checkpoint(
    tmp_path: Path, methods: Path
) -> None:
    jobs = _jobs(f"{methods}:PreemptedOnce", seeds=1)
    (record,) = sweep(jobs, tmp_path / "out", on="slurm", slurm=LOCAL)
    assert (tmp_path / "preempted-0").exists()
    _require_resumed_once(tmp_path / "out")
    assert record.complete


def _require_resumed_once(out: Path) -> None:
    (folder,) = find_folders(out)
    log = (folder / "log.jsonl").read_text()
    assert log.count('"resumed"') == 1
    assert not (folder / "error.txt").exists()
    assert check_folder(folder) == []


@pytest.mark.slow
def test_a_job_that_dies_fails_its_own_run_only(tmp_path: Path, methods: Path) -> None:
    jobs = _jobs(f"{methods}:ExitsOnSeedOne")
    with pytest.raises(RunsFailedError, match="1 of 2 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=2, on="slurm", slurm=LOCAL)
    assert [record.spec.seed for record in found.value.records] == [0]
    message = found.value.failed[0].message
    assert "ended before the run was finished" in message
    log = Path(message.rpartition("Its log: ")[2])
    assert log.is_file()
    assert log.is_relative_to(tmp_path / "out" / ".slurm")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitoin": "gpu"}, "unknown option of --slurm 'partitoin'. Did you mean 'partition'"),
        ({"time": "2h"}, "expected a whole number of at least 1 for --slurm time, found '2h'"),
        ({"time": 0}, "expected a whole number of at least 1 for --slurm time, found 0"),
        ({"memory": True}, "expected a number above 0 for --slurm memory, found True"),
        ({"cluster": "debug"}, "expected slurm or local for --slurm cluster, found 'debug'"),
        ({"gpus": 2}, "expected GPUs to be asked for by --gpus-per-job 2, found --slurm gpus=2"),
    ],
)
def test_options_that_slurm_has_not_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OnwardError) as found:
        SlurmExecutor(Request(1, on="slurm"), options, tmp_path)
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("device", "gpus", "message"),
    [
        ("auto", 0.5, "expected a whole number of --gpus-per-job with --on slurm, found 0.5"),
        ("cuda:1", None, "expected --device auto, cuda or cpu with --on slurm, found cuda:1"),
    ],
)
def test_gpus_that_slurm_cannot_give_are_refused(
    tmp_path: Path, device: str, gpus: float | None, message: str
) -> None:
    request = Request(1, frozenset({device}), on="slurm", gpus_per_job=gpus)
    with pytest.raises(OnwardError, match=message):
        SlurmExecutor(request, LOCAL, tmp_path)


def test_without_submitit_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(OnwardError, match=r"pip install 'onward\[slurm\]'"):
        sweep(_jobs("nap"), tmp_path, on="slurm")


def test_without_slurm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OnwardError, match=r"expected Slurm's commands .* found none"):
        sweep(_jobs("nap"), tmp_path, on="slurm")


def test_the_machine_that_submits_needs_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    source = Source("clear", hardware=Hardware("cuda"))
    with pytest.raises(OnwardError, match="expected Slurm's commands"):
        sweep([Job(source, "nap", 0)], tmp_path, on="slurm")


def test_a_queue_that_does_not_answer_loses_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onward.executors.slurm_queue._SECONDS", 0.0)
    monkeypatch.setenv("PATH", str(tmp_path))
    queue = SlurmQueue()
    assert all(queue.lost(["1_0"]) == set() for _ in range(10))


def test_events_of_several_writers_are_read_once_each_and_only_when_whole(tmp_path: Path) -> None:
    spec = RunSpec.model_construct(method="nap", seed=0)
    read: list[str] = []
    reader = EventReader(tmp_path)

    def pass_on() -> list[str]:
        read.clear()
        reader.pass_on(lambda event: read.append(event.kind))
        return sorted(read)

    first, second = EventWriter(tmp_path), EventWriter(tmp_path)
    first(Event("learning", spec))
    second(Event("done", spec))
    assert pass_on() == ["done", "learning"]
    assert pass_on() == []
    first(Event("tested", spec))
    (file,) = [path for path in tmp_path.iterdir() if b"tested" in path.read_bytes()]
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    assert pass_on() == []
    file.write_bytes(whole)
    assert pass_on() == ["tested"]
    reader.close()


def _command(methods: Path, *words: str) -> list[str]:
    run = [sys.executable, "-m", "onward", "run", "clear", "--protocol", "streaming"]
    return [*run, "--on", "slurm", "--out", str(methods.parent / "out"), *words]


def _onward(
    environment: dict[str, str], methods: Path, *words: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        _command(methods, *words),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def _queue(environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["squeue", "--noheader"], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_jobs_of_a_real_slurm(tmp_path: Path, methods: Path) -> None:
    with loopback_slurm() as environment:
        # Two runs with a GPU each, in two elements of one array.
        constant = ("--method", f"{methods}:Constant", "--seeds", "0-1")
        done = _onward(environment, methods, *constant, "--gpus-per-job", "1", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)
        assert {(tmp_path / f"gpus-{seed}").read_text() for seed in (0, 1)} <= {"0", "1"}

        # Refused at once, and refused by never being started.
        wrong = _onward(environment, methods, "--method", "nap", "--slurm", "partition=nope")
        assert wrong.returncode == 2
        assert "invalid partition specified: nope" in wrong.stderr
        assert "Traceback" not in wrong.stderr
        long = ("--slurm", "partition=short", "--slurm", "time=50")
        never = _onward(environment, methods, "--method", "nap", *long)
        assert never.returncode == 2
        assert "it never will (PartitionTimeLimit)" in never.stderr
        assert not _queue(environment)


@pytest.mark.slow
def test_a_real_slurm_requeues_a_preempted_job(tmp_path: Path, methods: Path) -> None:
    with loopback_slurm() as environment:
        done = _onward(environment, methods, "--method", f"{methods}:PreemptedOnce")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "preempted-0").exists()
        _require_resumed_once(tmp_path / "out")


@pytest.mark.slow
def test_ctrl_c_ends_the_jobs_of_a_real_slurm(tmp_path: Path, methods: Path) -> None:
    with loopback_slurm() as environment:
        # One of them is running, the other one is waiting for its turn.
        words = ("--method", f"{methods}:Waits", "--seeds", "0-1", "--jobs", "1")
        words += ("--method", "nap")
        command = _command(methods, *words)
        with subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, text=True
        ) as process:
            _wait_for(lambda: any(tmp_path.glob("learning-*")))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "the same command goes on where it stopped" in err
        _wait_for(lambda: not _queue(environment))
        (tmp_path / "continue").touch()
        done = _onward(environment, methods, *words)
        assert done.returncode == 0, done.stderr
        assert len(list(find_folders(tmp_path / "out"))) == 4


@pytest.mark.slow
def test_a_job_that_a_real_slurm_has_ended_fails_its_own_run_only(
    tmp_path: Path, methods: Path
) -> None:
    with loopback_slurm() as environment:
        words = ("--method", f"{methods}:ExitsOnSeedOne", "--seeds", "0-1", "--json")
        done = _onward(environment, methods, *words)
        assert "1 of 2 runs failed; the others are finished" in done.stderr
        assert "ended before the run was finished" in done.stderr
        assert done.returncode == 2
        assert json.loads(done.stdout)


def _wait_for(there: Any) -> None:
    until = time.monotonic() + 100
    while not there():
        assert time.monotonic() < until
        time.sleep(0.2)
