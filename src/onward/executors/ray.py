"""Jobs as tasks of a Ray cluster: many runs outgrow one machine."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from onward.errors import OnwardError
from onward.executors.executor import (
    ONE_THREAD,
    R,
    Request,
    T,
    Work,
    WorkerLostError,
    cores,
)
from onward.executors.gpus import visible_gpus
from onward.turns import Watch

# How often work is given to another worker, when the one that had it is lost.
_TIMES = 5


@contextlib.contextmanager
def cluster(request: Request) -> Iterator["RayExecutor"]:
    """Join a cluster or start one; leave it, or end it, afterwards.

    It is the cluster that ``RAY_ADDRESS`` names, or that runs on this machine; where there is none,
    Ray is started here for as long as this takes.
    """
    request.require_any_device()
    try:
        import ray
    except ImportError as error:
        raise OnwardError(
            "expected Ray to be installed for --on ray, found none. Install it with "
            "pip install 'onward[ray]', on all machines of the cluster"
        ) from error
    options = {"log_to_driver": False, "logging_level": "error"}
    variables = {"env_vars": ONE_THREAD}
    try:
        ray.init(address="auto", runtime_env=variables, **options)
    except ConnectionError as error:
        if os.environ.get("RAY_ADDRESS"):
            raise OnwardError(
                f"expected a Ray cluster at RAY_ADDRESS={os.environ['RAY_ADDRESS']}, found none: "
                f"{error}. Start it, or unset the variable to have one here"
            ) from error
        ray.init(
            address="local",
            num_cpus=max(request.workers or 0, cores()),
            num_gpus=len(visible_gpus()),
            include_dashboard=False,
            runtime_env=variables,
            **options,
        )
    try:
        yield RayExecutor(ray, request)
    finally:
        ray.shutdown()


class RayExecutor:
    """Tasks of a Ray cluster, by default one per GPU, or else one per core of the cluster.

    Each task asks for one core and the GPUs of a job; Ray sets ``CUDA_VISIBLE_DEVICES``. What a
    lost worker was doing is done by another one. All machines see the results folder under the same
    name.
    """

    def __init__(self, ray: Any, request: Request) -> None:
        self._ray = ray
        there = ray.cluster_resources()
        gpus, asked = int(there.get("GPU", 0)), request.gpus_per_job
        self._gpus = float(bool(gpus and request.any_gpu)) if asked is None else asked
        if self._gpus > gpus:
            raise OnwardError(
                f"expected GPUs in the Ray cluster for --gpus-per-job {self._gpus:g}, found "
                f"{gpus or 'none'}. Leave it out, or add machines with GPUs (ray start --num-gpus)"
            )
        room = gpus / self._gpus if self._gpus else there.get("CPU", 1)
        self.workers = request.workers or max(1, int(room))

    def run_all(
        self,
        work: Work[T, R],
        items: Sequence[T],
        out: Path,
        watch: Watch,
        *,
        workers: int | None = None,
    ) -> list[R | Exception]:
        """Do something with each of several items; one task for each."""
        from ray.util.queue import Queue

        ray = self._ray
        events = Queue(actor_options={"num_cpus": 0})
        remote = ray.remote(num_cpus=1, num_gpus=self._gpus, max_retries=_TIMES)(_at_work)
        waiting = list(enumerate(items))
        found: dict[int, R | Exception] = {}
        doing: dict[Any, int] = {}
        try:
            while waiting or doing:
                while waiting and len(doing) < (workers or self.workers):
                    place, item = waiting.pop(0)
                    task = remote.remote(work, item, out.absolute(), Path.cwd(), events)
                    doing[task] = place
                done, _ = ray.wait(list(doing), num_returns=1, timeout=0.2)
                _pass_on(events, watch)
                for task in done:
                    found[doing.pop(task)] = _result(ray, task)
            _pass_on(events, watch)
        finally:
            # A run folder is whole at every moment, so a worker may be stopped wherever it is.
            for task in doing:
                ray.cancel(task, force=True)
            events.shutdown(force=True)
        return [found[place] for place in range(len(items))]


def _at_work(work: Work[T, R], item: T, out: Path, here: Path, events: Any) -> R:
    """Do it, in a worker; what a name of a file means is decided where the command was given."""
    if here.is_dir():
        os.chdir(here)
    return work(item, out, events.put)


def _result(ray: Any, task: Any) -> Any:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return error.cause
    except ray.exceptions.RayError as error:
        return WorkerLostError(
            f"{_TIMES + 1} workers ended one after the other before the run was finished (out of "
            f"memory?): {error}"
        )


def _pass_on(events: Any, watch: Watch) -> None:
    while count := events.qsize():
        for event in events.get_nowait_batch(count):
            watch(event)
