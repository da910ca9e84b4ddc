"""What executors have in common: what they are asked for, and what they answer."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, TypeVar

from onward.errors import OnwardError
from onward.turns import Event, Watch

On = Literal["local", "ray", "slurm"]
"""Where jobs are executed."""
T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T, Path, Watch], R]
"""What is done with an item: the results folder and where events go are its other arguments."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of processes that compute beside each other."""


class Execution(TypedDict, total=False):
    """Where runs are executed, and how many at a time: keywords of `onward.sweep.sweep`."""

    workers: int | None
    on: On
    gpus_per_job: float | None
    slurm: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """What is to be executed where.

    Parameters
    ----------
    runs
        How many runs there are.
    devices
        The names of the devices that they compute on, as in `onward.hardware.Hardware`.
    cpus
        Threads and data loading processes of one job.
    workers
        How many jobs may run at a time; None for as many as the hardware has room for.
    on
        Where.
    gpus_per_job
        GPUs of each job; None for one where there are GPUs.
    """

    runs: int
    devices: frozenset[str] = frozenset({"auto"})
    cpus: int = 1
    workers: int | None = None
    on: On = "local"
    gpus_per_job: float | None = None

    def __post_init__(self) -> None:
        gpus = self.gpus_per_job
        if gpus is None:
            return
        if gpus < 0 or (gpus > 1 and gpus != int(gpus)):
            raise OnwardError(
                f"expected --gpus-per-job 0, a share of a GPU such as 0.5, or a whole number, "
                f"found {gpus:g}"
            )
        if gpus and not self.any_gpu:
            found = ", ".join(sorted(self.devices))
            raise OnwardError(
                f"expected --device auto or cuda with --gpus-per-job {gpus:g}, found {found}. "
                "Leave one of them out"
            )

    @property
    def any_gpu(self) -> bool:
        """Whether jobs compute on any GPU that they get; `cuda:1` names one."""
        return bool(self.devices & {"auto", "cuda"}) and not self.named_gpu

    @property
    def named_gpu(self) -> str | None:
        """A GPU that runs ask for by its number, if there is one."""
        return next((name for name in sorted(self.devices) if name.startswith("cuda:")), None)

    def require_any_device(self) -> None:
        """Raise if runs ask for a GPU by its number, where jobs are given GPUs by somebody else."""
        if self.named_gpu is not None:
            raise OnwardError(
                f"expected --device auto, cuda or cpu with --on {self.on}, found "
                f"{self.named_gpu}: each job is given GPUs of its own, which begin at cuda:0"
            )


class Executor(Protocol):
    """Executes jobs in other processes, several at a time."""

    workers: int
    """How many jobs are executed at a time."""

    def run_all(
        self,
        work: Work[T, R],
        items: Sequence[T],
        out: Path,
        watch: Watch,
        *,
        workers: int | None = None,
    ) -> list[R | Exception]:
        """Do something with each of several items; return what each gives.

        Where a process ends before its item is done, that is an exception; the others continue.
        It must be possible to do `work` again after it was ended anywhere. `watch` is called in
        this process with all events. `workers` is how many jobs are executed at a time, if it is
        fewer than usual.
        """


class WorkerLostError(OnwardError):
    """The process that did something has ended before it was done.

    Parameters
    ----------
    message
        How it ended.
    stage
        What it was doing, if it has told.
    """

    def __init__(self, message: str, stage: str | None = None) -> None:
        super().__init__(message)
        self.stage = stage


def stage_of(event: Event) -> str | None:
    """Return what a run is doing from this event on; None if the event does not tell."""
    if event.kind == "learning" and event.period is not None:
        return f"learning period {event.spec.periods[event.period]}"
    return None


@contextlib.contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Give the processes that are started here these environment variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
