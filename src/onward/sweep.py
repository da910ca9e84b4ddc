"""Many runs at once: one single-threaded worker per core, each run in its own folder."""

import contextlib
import functools
import json
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from onward.benchmarks import Source, retrained
from onward.errors import OnwardError
from onward.loop import Event, Watch, run
from onward.results.record import RunRecord, load_record
from onward.types import Benchmark


@dataclass(frozen=True)
class Job:
    """One run, in words that can be sent to another process."""

    source: Source
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    tuned: Mapping[str, Any] | None = None
    keep_predictions: bool = True
    checkpoint_seconds: float = 30.0


def sweep(
    jobs: Sequence[Job], out: Path, *, workers: int = 1, watch: Watch = lambda event: None
) -> list[RunRecord]:
    """Run all jobs and return their records in the same order.

    Parameters
    ----------
    jobs
        What to run. Runs that are complete are not run again.
    out
        The results folder.
    workers
        How many processes; with one, everything happens in this process.
    watch
        Called in this process with the events of all runs, without learners and outputs.
    """
    for job in jobs:
        benchmark_of(job.source)
    if workers <= 1 or len(jobs) <= 1:
        return [_run(job, out, watch) for job in jobs]
    # Spawned, not forked: a forked child may inherit locks that another thread held.
    context = multiprocessing.get_context("spawn")
    events: multiprocessing.Queue[Event] = context.Queue()
    pool = ProcessPoolExecutor(
        min(workers, len(jobs)), context, initializer=_begin_worker, initargs=(events,)
    )
    try:
        with _single_threaded():
            waiting = [pool.submit(_work, job, out) for job in jobs]
        while not all(future.done() for future in waiting):
            finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
            _pass_on(events, watch)
            for future in finished:
                future.result()
        return [load_record(future.result()) for future in waiting]
    except BrokenProcessPool as error:
        raise OnwardError(
            "a worker process ended before its run was finished (out of memory?). Run the same "
            "command again: finished runs are kept, the others go on where they stopped"
        ) from error
    finally:
        # Also after Ctrl-C or a failed run: a run folder is whole at every moment, so a worker
        # may be stopped wherever it is.
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(cancel_futures=True)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def benchmark_of(source: Source) -> Benchmark:
    """Load a benchmark once in this process, however many runs and recipes use it."""
    return retrained(_loaded(json.dumps(asdict(replace(source, training={})))), source.training)


@functools.cache
def _loaded(source: str) -> Benchmark:
    return Source(**json.loads(source)).load()


def _run(job: Job, out: Path, watch: Watch) -> RunRecord:
    return run(
        benchmark_of(job.source),
        job.method,
        job.seed,
        out,
        options=job.options,
        limits=job.limits,
        tuned=job.tuned,
        keep_predictions=job.keep_predictions,
        checkpoint_seconds=job.checkpoint_seconds,
        watch=watch,
    )


_events: "multiprocessing.Queue[Event] | None" = None


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Have the processes that are started here compute on one thread each."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _begin_worker(events: "multiprocessing.Queue[Event]") -> None:
    global _events
    _events = events
    # Ctrl-C reaches every process of the terminal; the parent decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a learner prints must not end up inside the results that the parent prints.
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has been killed, which nothing else would tell it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class WorkerError(Exception):
    """A learner failed in a worker process; the text is its traceback."""


def _work(job: Job, out: Path) -> Path:
    def send(event: Event) -> None:
        if _events is not None:
            _events.put(replace(event, learner=None, outputs=None))

    try:
        path = _run(job, out, send).path
    except OnwardError:
        raise
    except Exception:  # noqa: BLE001 (it is passed on, as text)
        # Not every exception survives the way to another process; its text does.
        raise WorkerError(traceback.format_exc()) from None
    if path is None:
        raise OnwardError("a run in a worker process must leave a folder")
    return path


def _pass_on(events: "multiprocessing.Queue[Event]", watch: Watch) -> None:
    with contextlib.suppress(queue.Empty):
        while True:
            watch(events.get_nowait())
