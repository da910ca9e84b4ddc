"""Runs on a Ray of this machine, one of whose workers is killed.

Ray talks over sockets, which tests may not: the command is started on its own.
"""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from onward.benchmarks import Source
from onward.errors import OnwardError
from onward.failures import RunsFailedError
from onward.hardware import Hardware
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.sweep import Job, sweep

HAS_RAY = importlib.util.find_spec("ray") is not None
DIES_ONCE = """
import os, signal
from pathlib import Path
import numpy as np
from onward.methods.finetune import Finetune

class DiesOnce(Finetune):
    def training_data(self, new, budget):
        mark = Path(__file__).with_name(f"died-{self.setting.seed}")
        if self.setting.seed == 1 and not mark.exists() and getattr(self, "again", False):
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        self.again = True
        return super().training_data(new, budget)
"""


def test_without_ray_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OnwardError, match="pip install 'onward\\[ray\\]'"):
        sweep([Job(Source("clear"), "nap", 0)], tmp_path, on="ray")


def test_a_gpu_by_its_number_is_refused_on_ray(tmp_path: Path) -> None:
    source = Source("clear", hardware=Hardware("cuda:1"))
    with pytest.raises(OnwardError, match="expected --device auto, cuda or cpu with --on ray"):
        sweep([Job(source, "nap", 0)], tmp_path, on="ray")


class RayError(Exception):
    """As in Ray: the base class of its errors."""


class RayTaskError(RayError):
    """As in Ray: a task raised an exception."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class EventQueue(list[Any]):
    """As in Ray: a queue between processes."""

    def __init__(self, actor_options: Any) -> None:
        super().__init__()

    def put(self, event: Any) -> None:
        self.append(pickle.loads(pickle.dumps(event)))

    def qsize(self) -> int:
        return len(self)

    def get_nowait_batch(self, count: int) -> list[Any]:
        batch, self[:] = self[:count], self[count:]
        return batch

    def shutdown(self, *, force: bool) -> None:
        pass


def _ray_in_this_process(lost: set[int]) -> ModuleType:
    """Return a stand-in for Ray that calls tasks here; the workers of some calls are lost."""
    calls: list[int] = []

    def remote(**options: Any) -> Callable[..., Any]:
        def with_remote(function: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *arguments: partial(function, *arguments))

        return with_remote

    def get(task: Callable[[], Any]) -> Any:
        calls.append(len(calls))
        if calls[-1] in lost:
            raise RayError("the worker died")
        try:
            return pickle.loads(pickle.dumps(task()))
        except Exception as error:
            raise RayTaskError(error) from error

    ray = ModuleType("ray")
    vars(ray).update(
        init=lambda **options: None,
        shutdown=lambda: None,
        cluster_resources=lambda: {"CPU": 2.0},
        remote=remote,
        wait=lambda tasks, **options: (tasks[:1], tasks[1:]),
        get=get,
        cancel=lambda task, force: None,
        exceptions=SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError),
    )
    return ray


def test_failed_runs_and_lost_workers_leave_the_other_runs_on_ray_to_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two bundles, one per seed. The worker of the second one is lost: its two runs are tried again
    # on their own, and the worker of the second of these is lost too.
    monkeypatch.setitem(sys.modules, "ray", _ray_in_this_process(lost={1, 3}))
    monkeypatch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))
    queue = ModuleType("ray.util.queue")
    vars(queue)["Queue"] = EventQueue
    monkeypatch.setitem(sys.modules, "ray.util.queue", queue)
    (tmp_path / "mine.py").write_text(
        "class Bad:\n    def learn(self, view, budget): raise ValueError('boom')\n"
        "    def predict(self, view): return []\n"
    )
    methods = ("nap", f"{tmp_path / 'mine.py'}:Bad")
    jobs = [Job(Source("clear"), method, seed) for seed in range(2) for method in methods]
    kinds: list[str] = []
    with pytest.raises(RunsFailedError, match="2 of 4 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=2, on="ray", watch=lambda e: kinds.append(e.kind))
    raised, lost = found.value.failed
    assert [found.value.results.index(failed) for failed in (raised, lost)] == [1, 3]
    assert (raised.error, raised.message) == ("ValueError", "boom")
    assert "workers ended one after the other" in lost.message
    assert [record.spec.seed for record in found.value.records] == [0, 1]
    assert (kinds.count("done"), kinds.count("failed")) == (2, 1)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install 'onward[ray]'")
def test_what_a_killed_worker_had_is_finished_by_another(tmp_path: Path) -> None:
    method = tmp_path / "mine.py"
    method.write_text(DIES_ONCE)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "onward", "run", "clear", "--data", "emoji"]
    command += ["--protocol", "streaming", "--seeds", "0-2", "--method", "mine.py:DiesOnce"]
    command += ["--on", "ray", "--jobs", "2", "--json", "--out", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (tmp_path / "died-1").exists()
    folders = list(find_folders(out))
    assert len(folders) == 3
    assert all(check_folder(folder) == [] for folder in folders)
    logs = [(folder / "log.jsonl").read_text() for folder in folders]
    assert sum('"resumed"' in log for log in logs) == 1


SEES = """
import os
from pathlib import Path
import numpy as np

class Sees:
    def __init__(self, setting):
        self.seed = setting.seed
    def learn(self, view, budget):
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
        Path(__file__).with_name(f"gpus-{self.seed}").write_text(str(gpus))
    def predict(self, view):
        return np.zeros(len(view), np.int64)
"""
# A cluster with two GPUs that only Ray believes in.
CLUSTER = """
import os, subprocess, sys
import ray

found = ray.init(num_cpus=2, num_gpus=2, include_dashboard=False, logging_level="error")
environment = {**os.environ, "RAY_ADDRESS": found.address_info["gcs_address"]}
sys.exit(subprocess.run(sys.argv[1:], env=environment).returncode)
"""


def _on_ray_with_two_gpus(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "sees.py").write_text(SEES)
    run = ["-m", "onward", "run", "clear", "--protocol", "streaming", "--method", "sees.py:Sees"]
    return subprocess.run(
        [sys.executable, "-c", CLUSTER, sys.executable, *run, "--on", "ray", *words],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install 'onward[ray]'")
@pytest.mark.parametrize(
    ("words", "gpus"),
    [
        ((), {"0", "1"}),
        (("--gpus-per-job", "2"), {"0,1", "1,0"}),
        (("--gpus-per-job", "0"), {"", "None"}),
    ],
)
def test_ray_gives_each_job_the_gpus_that_it_asks_for(
    tmp_path: Path, words: tuple[str, ...], gpus: set[str]
) -> None:
    done = _on_ray_with_two_gpus(tmp_path, "--seeds", "0-1", *words)
    assert done.returncode == 0, done.stderr
    assert {(tmp_path / f"gpus-{seed}").read_text() for seed in range(2)} <= gpus


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install 'onward[ray]'")
def test_more_gpus_than_the_ray_cluster_has_are_refused(tmp_path: Path) -> None:
    done = _on_ray_with_two_gpus(tmp_path, "--gpus-per-job", "3")
    assert done.returncode == 2
    assert "expected GPUs in the Ray cluster for --gpus-per-job 3, found 2" in done.stderr
    assert "Traceback" not in done.stderr
