"""Work sent to a Ray cluster: many runs outgrow one machine."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from onward.errors import OnwardError
from onward.turns import Watch

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T, Path, Watch], R]
# How often work is given to another worker, when the one that had it is lost.
_TIMES = 5
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def work_on_ray(
    work: Work[T, R], things: Sequence[T], out: Path, *, workers: int, watch: Watch
) -> list[R | Exception]:
    """Have a Ray cluster do something with each of several things; return what each gives.

    Where one fails, that is its exception; the others go on.

    It joins the cluster that ``RAY_ADDRESS`` names, or that runs on this machine; where there is
    none, Ray is started here for as long as this takes. What a lost worker was doing is done by
    another one, so it must be possible to do `work` again after it was cut off anywhere.

    All machines see the folder `out` under the same name. So many things are worked on at a time as
    there are `workers`; `watch` is called in this process with all events.
    """
    with _cluster(workers) as ray:
        from ray.util.queue import Queue

        events = Queue(actor_options={"num_cpus": 0})
        remote = ray.remote(num_cpus=1, max_retries=_TIMES)(_at_work)
        waiting = list(enumerate(things))
        found: dict[int, R | Exception] = {}
        doing: dict[Any, int] = {}
        try:
            while waiting or doing:
                while waiting and len(doing) < workers:
                    place, thing = waiting.pop(0)
                    task = remote.remote(work, thing, out.absolute(), Path.cwd(), events)
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
    return [found[place] for place in range(len(things))]


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """Join a cluster or start one; leave it, or end it, afterwards."""
    try:
        import ray
    except ImportError as error:
        raise OnwardError(
            "expected Ray to be installed for --on ray, found none. Install it with "
            "pip install 'onward[ray]', on all machines of the cluster"
        ) from error
    options = {"log_to_driver": False, "logging_level": "error"}
    environment = {"env_vars": _ONE_THREAD}
    try:
        ray.init(address="auto", runtime_env=environment, **options)
    except ConnectionError as error:
        if os.environ.get("RAY_ADDRESS"):
            raise OnwardError(
                f"expected a Ray cluster at RAY_ADDRESS={os.environ['RAY_ADDRESS']}, found none: "
                f"{error}. Start it, or unset the variable to have one here"
            ) from error
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            runtime_env=environment,
            **options,
        )
    try:
        yield ray
    finally:
        ray.shutdown()


def _at_work(work: Work[T, R], thing: T, out: Path, here: Path, events: Any) -> R:
    """Do it, in a worker; what a name of a file means is decided where the command was given."""
    if here.is_dir():
        os.chdir(here)
    return work(thing, out, events.put)


def _result(ray: Any, task: Any) -> Any:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return error.cause
    except ray.exceptions.RayError as error:
        return OnwardError(
            f"{_TIMES + 1} workers ended one after the other before the run was finished (out of "
            f"memory?): {error}"
        )


def _pass_on(events: Any, watch: Watch) -> None:
    while count := events.qsize():
        for event in events.get_nowait_batch(count):
            watch(event)
