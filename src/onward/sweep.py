"""Many runs at once: one single-threaded worker per core, each run in its own folder.

Runs of one stream and seed go in lock step, so that those that see the same batches share them.
"""

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
from typing import Any, Literal

from onward.benchmarks import Source, retrained
from onward.crew import crew
from onward.errors import OnwardError
from onward.results.record import RunRecord, load_record
from onward.together import Variant, run_together
from onward.turns import Event, Watch
from onward.types import Benchmark

On = Literal["local", "ray"]
"""Where workers are."""


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
    jobs: Sequence[Job],
    out: Path,
    *,
    workers: int = 1,
    watch: Watch = lambda event: None,
    on: On = "local",
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
    on
        Whether the workers are processes of this machine, or those of a Ray cluster.
    """
    for job in jobs:
        benchmark_of(job.source)
    if crew().size > 1:
        if on != "local":
            raise OnwardError("expected either torchrun or --on ray, found both. Choose one")
        workers = 1  # they are at one run together
    bundles = bundled(jobs, workers)
    if on == "ray":
        from onward.on_ray import work_on_ray

        paths = work_on_ray(_paths, bundles, out, workers=workers, watch=watch)
        return _in_order(jobs, bundles, [[load_record(path) for path in some] for some in paths])
    if workers <= 1 or len(bundles) <= 1:
        found = [_run(bundle, out, watch) for bundle in bundles]
        return _in_order(jobs, bundles, found)
    # Spawned, not forked: a forked child may inherit locks that another thread held.
    context = multiprocessing.get_context("spawn")
    events: multiprocessing.Queue[Event] = context.Queue()
    pool = ProcessPoolExecutor(
        min(workers, len(bundles)),
        context,
        initializer=_begin_worker,
        initargs=(events, os.getpid()),
    )
    try:
        with _single_threaded():
            waiting = [pool.submit(_work, bundle, out) for bundle in bundles]
        while not all(future.done() for future in waiting):
            finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
            _pass_on(events, watch)
            for future in finished:
                future.result()
        found = [[load_record(path) for path in future.result()] for future in waiting]
        return _in_order(jobs, bundles, found)
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


def bundled(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Put jobs together whose runs may share batches, without leaving a worker idle.

    That is where linear probes learn whole periods of one stream and seed, and where the first
    period, in which many methods learn the same, is the longest. As many bundles are cut in two as
    it takes to give every worker the same number of them.
    """
    together: dict[Any, list[Job]] = {}
    for number, job in enumerate(jobs):
        benchmark = benchmark_of(job.source)
        recipe = benchmark.recipes[benchmark.recipe]
        shares = recipe.model == "linear" or recipe.first_epochs is not None
        pays = shares and benchmark.protocol.batch is None
        stream = (_name(job.source), job.seed, job.keep_predictions, job.checkpoint_seconds)
        together.setdefault(stream if pays else number, []).append(job)
    bundles = sorted(together.values(), key=len, reverse=True)
    while len(bundles) % workers and len(bundles[0]) > 1:
        largest = bundles.pop(0)
        half = len(largest) // 2
        bundles = sorted([*bundles, largest[:half], largest[half:]], key=len, reverse=True)
    return bundles


def _in_order(
    jobs: Sequence[Job], bundles: list[list[Job]], found: list[list[RunRecord]]
) -> list[RunRecord]:
    """Return the records of all bundles in the order of the jobs."""
    by_job = {
        id(job): record
        for bundle, records in zip(bundles, found, strict=True)
        for job, record in zip(bundle, records, strict=True)
    }
    return [by_job[id(job)] for job in jobs]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def benchmark_of(source: Source) -> Benchmark:
    """Load a benchmark once in this process, however many runs and recipes use it."""
    return retrained(_loaded(_name(source)), source.training)


def _name(source: Source) -> str:
    """Name a source up to the numbers of its recipe."""
    return json.dumps(asdict(replace(source, training={})))


@functools.cache
def _loaded(source: str) -> Benchmark:
    return Source(**json.loads(source)).load()


def _run(bundle: Sequence[Job], out: Path, watch: Watch) -> list[RunRecord]:
    first = bundle[0]
    return run_together(
        benchmark_of(replace(first.source, training={})),
        [
            Variant(job.method, job.options, job.source.training, job.limits, job.tuned)
            for job in bundle
        ],
        first.seed,
        out,
        keep_predictions=first.keep_predictions,
        checkpoint_seconds=first.checkpoint_seconds,
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


def _begin_worker(events: "multiprocessing.Queue[Event]", parent: int) -> None:
    global _events
    _events = events
    # Ctrl-C reaches every process of the terminal; the parent decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a learner prints must not end up inside the results that the parent prints.
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has been killed, which nothing else would tell it.

    The parent passes its own pid: if it was killed while this process was still importing modules,
    `os.getppid` already returns the pid of another process.
    """
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class WorkerError(Exception):
    """A learner failed in a worker process; the text is its traceback."""


def _work(bundle: Sequence[Job], out: Path) -> list[Path]:
    try:
        return _paths(bundle, out, _events.put if _events is not None else lambda event: None)
    except OnwardError:
        raise
    except Exception:  # noqa: BLE001 (it is passed on, as text)
        # Not every exception survives the way to another process; its text does.
        raise WorkerError(traceback.format_exc()) from None


def _paths(bundle: Sequence[Job], out: Path, send: Watch) -> list[Path]:
    """Run a bundle for another process: events go there in words, records as their folders."""
    records = _run(bundle, out, lambda event: send(replace(event, learner=None, outputs=None)))
    return [record.path for record in records if record.path is not None]


def _pass_on(events: "multiprocessing.Queue[Event]", watch: Watch) -> None:
    with contextlib.suppress(queue.Empty):
        while True:
            watch(events.get_nowait())
