"""Which jobs get which GPUs, on a simulated pool: the environment says which ones are visible."""

import os
from pathlib import Path

import pytest

from onward.benchmarks import Source
from onward.errors import OnwardError
from onward.executors.executor import Request, cores
from onward.executors.gpus import GpuSlots, visible_gpus
from onward.executors.local import LocalExecutor
from onward.failures import RunsFailedError
from onward.hardware import Hardware
from onward.results.record import RunRecord, load_record
from onward.sweep import Job, sweep

RECORDS = """
import os, time
from pathlib import Path
import numpy as np

class Records:
    def __init__(self, setting):
        self.seed, self.device = setting.seed, setting.hardware.device
        self.place = Path(__file__).with_name("seen")
        self.place.mkdir(exist_ok=True)
    def learn(self, view, budget):
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
        with open(self.place / f"{self.seed}", "w") as file:
            file.write(f"{gpus} {self.device}")
        number = str(gpus).replace("/", "-")
        mine = self.place / f"running-{number}-{os.getpid()}"
        mine.touch()
        time.sleep(0.02)
        others = len(list(self.place.glob(f"running-{number}-*")))
        with open(self.place / "together", "a") as file:
            file.write(f"{others} ")
        mine.unlink()
    def predict(self, view):
        return np.zeros(len(view), np.int64)

class RaisesOnSeedFive(Records):
    def learn(self, view, budget):
        super().learn(view, budget)
        if self.seed == 5 and not self.place.with_name("fixed").exists():
            raise ValueError("boom")
"""
TWO = ["GPU-8f1c-0", "MIG-77aa/1/0"]


@pytest.fixture
def method(tmp_path: Path) -> str:
    (tmp_path / "records.py").write_text(RECORDS)
    return f"{tmp_path / 'records.py'}:Records"


def _jobs(method: str, seeds: int, device: str = "auto") -> list[Job]:
    source = Source("clear", hardware=Hardware(device=device))
    return [Job(source, method, seed) for seed in range(seeds)]


def _seen(tmp_path: Path, seeds: int) -> list[str]:
    return [(tmp_path / "seen" / f"{seed}").read_text().split()[0] for seed in range(seeds)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("0,1", ["0", "1"]),
        (" 3 , 1", ["3", "1"]),
        (",".join(TWO), TWO),
        ("", []),
        ("-1", []),
        ("2,-1,3", ["2"]),
        ("NoDevFiles", []),
    ],
)
def test_visible_gpus_are_those_of_the_environment(
    given: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert visible_gpus() == found


def test_without_the_variable_gpus_are_counted_without_initializing_cuda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert visible_gpus() == ["0", "1", "2"]
    assert not torch.cuda.is_initialized()


@pytest.mark.parametrize(
    ("gpus", "per_job", "places"),
    [
        (2, 1, [("0",), ("1",)]),
        (2, 0.5, [("0",), ("1",), ("0",), ("1",)]),
        (1, 1 / 3, [("0",)] * 3),
        (1, 0.1, [("0",)] * 10),
        (1, 0.4, [("0",), ("0",)]),
        (5, 2, [("0", "1"), ("2", "3")]),
        (2, 3, []),
        (0, 1, []),
    ],
)
def test_jobs_are_placed_on_the_gpus_with_the_most_room(
    gpus: int, per_job: float, places: list[tuple[str, ...]]
) -> None:
    slots = GpuSlots([str(number) for number in range(gpus)], per_job)
    assert slots.capacity == len(places)
    assert [slots.take() for _ in places] == places
    if places:
        with pytest.raises(ValueError, match="no GPU has room"):
            slots.take()
        slots.give_back(places[-1])
        assert slots.take() == places[-1]


@pytest.mark.parametrize(
    ("visible", "device", "per_job", "asked", "workers"),
    [
        ("0,1", "auto", None, None, 2),
        ("0,1", "auto", 0.5, None, 4),
        ("0,1", "auto", 2.0, None, 1),
        ("0,1", "auto", None, 1, 1),
        ("0,1", "auto", None, 64, 2),
        ("0,1", "cuda", None, None, 2),
        ("0,1", "auto", 0.0, None, cores()),
        ("0,1", "cpu", None, None, cores()),
        ("0,1", "cpu", None, 7, 7),
        ("0,1", "cuda:1", None, None, 1),
        ("0,1", "cuda:1", None, 3, 3),
        ("", "auto", None, None, cores()),
        ("", "auto", 0.0, 5, 5),
    ],
)
def test_as_many_jobs_run_as_gpus_or_cores_have_room_for(
    visible: str,
    device: str,
    per_job: float | None,
    asked: int | None,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    request = Request(9, frozenset({device}), workers=asked, gpus_per_job=per_job)
    assert LocalExecutor(request).workers == workers


@pytest.mark.parametrize(
    ("visible", "device", "per_job", "message"),
    [
        ("", "auto", 1, "expected GPUs on this machine for --gpus-per-job 1, found none"),
        ("0", "auto", 2, r"for --gpus-per-job 2, found 1 \(0\)\. Lower it"),
        ("0", "auto", 1.5, "a share of a GPU such as 0.5, or a whole number, found 1.5"),
        ("0", "auto", -1, "or a whole number, found -1"),
        ("0", "cpu", 1, "expected --device auto or cuda with --gpus-per-job 1, found cpu"),
        ("0", "cuda:1", 1, "expected --device auto or cuda with --gpus-per-job 1, found cuda:1"),
    ],
)
def test_gpus_that_are_not_there_are_refused(
    visible: str, device: str, per_job: float, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(OnwardError, match=message):
        LocalExecutor(Request(9, frozenset({device}), gpus_per_job=per_job))


@pytest.mark.slow
def test_each_of_two_jobs_gets_a_gpu_of_its_own(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(TWO))
    records = sweep(_jobs(method, 4), tmp_path / "out", workers=None)
    assert set(_seen(tmp_path, 4)) == set(TWO)
    # No GPU was used by two jobs at a time.
    assert set((tmp_path / "seen" / "together").read_text().split()) == {"1"}
    assert [_recorded(record) for record in records] == _seen(tmp_path, 4)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ",".join(TWO)


def _recorded(record: RunRecord) -> str | None:
    assert record.path is not None
    environment = load_record(record.path).environment
    assert environment is not None
    return environment.visible_gpus


@pytest.mark.slow
def test_two_jobs_share_a_gpu_of_which_each_takes_half(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    sweep(_jobs(method, 4), tmp_path / "out", workers=None, gpus_per_job=0.5)
    assert _seen(tmp_path, 4) == ["7"] * 4
    assert max((tmp_path / "seen" / "together").read_text().split()) == "2"


@pytest.mark.slow
def test_a_job_sees_both_gpus_that_it_asked_for(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,0,2")
    sweep(_jobs(method, 2), tmp_path / "out", workers=None, gpus_per_job=2)
    assert set(_seen(tmp_path, 2)) == {"3,1", "0,2"}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_without_gpus_per_job_runs_compute_on_the_cpu(
    tmp_path: Path, method: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    sweep(_jobs(method, 2), tmp_path / "out", workers=workers, gpus_per_job=0)
    for seed in range(2):
        assert (tmp_path / "seen" / f"{seed}").read_text().split()[-1] == "cpu"


def test_zero_gpus_and_a_gpu_exclude_each_other(tmp_path: Path) -> None:
    jobs = [Job(Source("clear", hardware=Hardware("cuda:0")), "nap", 0)]
    with pytest.raises(OnwardError, match=r"expected --device auto or cpu|expected the device"):
        sweep(jobs, tmp_path / "out", gpus_per_job=0)


@pytest.mark.slow
def test_one_run_that_raises_on_two_gpus_leaves_seven_to_finish_and_is_tried_again(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    jobs = _jobs(method.replace(":Records", ":RaisesOnSeedFive"), 8)
    with pytest.raises(RunsFailedError, match="1 of 8 runs failed") as found:
        sweep(jobs, tmp_path / "out", workers=None)
    assert [record.spec.seed for record in found.value.records] == [0, 1, 2, 3, 4, 6, 7]
    assert set(_seen(tmp_path, 8)) == {"0", "1"}
    (tmp_path / "fixed").touch()
    kinds: list[tuple[str, int]] = []
    records = sweep(
        jobs,
        tmp_path / "out",
        workers=None,
        watch=lambda event: kinds.append((event.kind, event.spec.seed)),
    )
    assert len(records) == 8
    assert [seed for kind, seed in kinds if kind == "done"] == [5]


def test_slurm_options_need_slurm(tmp_path: Path) -> None:
    jobs = [Job(Source("clear"), "nap", 0)]
    with pytest.raises(OnwardError, match="expected --on slurm with --slurm time"):
        sweep(jobs, tmp_path, slurm={"time": 3})
