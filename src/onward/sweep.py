"""Many runs at once: one single-threaded worker per core, each run in its own folder.

Runs of one stream and seed go in lock step, so that those that see the same batches share them.
"""

import contextlib
import functools
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import connection
from pathlib import Path
from typing import Any, Literal

from onward.benchmarks import Source, retrained
from onward.crew import contained, crew
from onward.errors import OnwardError
from onward.failures import FailedRun, RunsFailedError, all_or_raise
from onward.hardware import Hardware
from onward.results.record import RunRecord, load_record
from onward.together import Variant, run_together
from onward.turns import Event, Watch
from onward.types import Benchmark

On = Literal["local", "ray"]
"""Where workers are."""
# Of a bundle: for each run a record, its folder, or its failure; alone, the failure of all of it.
Answer = Sequence[Path | RunRecord | FailedRun] | FailedRun
# A process that has closed its connection is about to end.
_SECONDS_TO_END = 10.0


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
    allow_unmetered: bool = False
    checkpoint_seconds: float = 30.0
    log: tuple[str, ...] = ()
    log_every: int | None = None


def sweep(
    jobs: Sequence[Job],
    out: Path,
    *,
    workers: int = 1,
    watch: Watch = lambda event: None,
    on: On = "local",
) -> list[RunRecord]:
    """Run all jobs and return their records in the same order.

    A run that fails does not end the others. Where a whole bundle fails, such as by the end of its
    worker process, each of its runs is tried once more on its own.

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

    Raises
    ------
    RunsFailedError
        If runs failed, once all others are finished; it has their records.
    """
    for job in jobs:
        benchmark_of(job.source)
    if crew().size > 1:
        if on != "local":
            raise OnwardError("expected either torchrun or --on ray, found both. Choose one")
        workers = 1  # they are at one run together
    bundles = bundled(jobs, workers)
    here = on == "local" and (workers <= 1 or len(bundles) <= 1)

    def attempt(bundles: Sequence[Sequence[Job]], workers: int) -> list[Answer]:
        if here:
            return [_run_here(bundle, out, watch) for bundle in bundles]
        if on == "local":
            return _run_in_workers(bundles, out, workers, watch)
        from onward.on_ray import work_on_ray

        found = work_on_ray(_run_remotely, bundles, out, workers=workers, watch=watch)
        return [
            _failed(bundle, answer) if isinstance(answer, Exception) else answer
            for bundle, answer in zip(bundles, found, strict=True)
        ]

    answers: dict[int, Path | RunRecord | FailedRun] = {}
    again: list[Job] = []
    for bundle, answer in zip(bundles, attempt(bundles, workers), strict=True):
        if isinstance(answer, FailedRun):
            again += bundle
        else:
            answers.update(zip(map(id, bundle), answer, strict=True))
    if again:
        # One after the other: two that ran at the same time may have run out of memory together.
        for job, answer in zip(again, attempt([[job] for job in again], 1), strict=True):
            answers[id(job)] = answer if isinstance(answer, FailedRun) else answer[0]
    found = [answers[id(job)] for job in jobs]
    return all_or_raise([load_record(one) if isinstance(one, Path) else one for one in found])


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
        shared = (job.keep_predictions, job.checkpoint_seconds, job.log, job.log_every)
        stream = (_name(job.source), job.seed, *shared)
        together.setdefault(stream if pays else number, []).append(job)
    bundles = sorted(together.values(), key=len, reverse=True)
    while len(bundles) % workers and len(bundles[0]) > 1:
        largest = bundles.pop(0)
        half = len(largest) // 2
        bundles = sorted([*bundles, largest[:half], largest[half:]], key=len, reverse=True)
    return bundles


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
    found = json.loads(source)
    return Source(**{**found, "hardware": Hardware(**found["hardware"])}).load()


def _run(bundle: Sequence[Job], out: Path, watch: Watch) -> Sequence[RunRecord | FailedRun]:
    first = bundle[0]
    try:
        return run_together(
            benchmark_of(replace(first.source, training={})),
            [
                Variant(
                    job.method,
                    job.options,
                    job.source.training,
                    job.limits,
                    job.tuned,
                    job.allow_unmetered,
                )
                for job in bundle
            ],
            first.seed,
            out,
            keep_predictions=first.keep_predictions,
            checkpoint_seconds=first.checkpoint_seconds,
            log=first.log,
            log_every=first.log_every,
            watch=watch,
        )
    except RunsFailedError as error:
        return error.results


def _failed(bundle: Sequence[Job], error: BaseException, stage: str | None = None) -> FailedRun:
    """Return the failure of a whole bundle, under the name of its first run."""
    return FailedRun.of(error, bundle[0].method, bundle[0].seed, stage)


def _run_here(bundle: Sequence[Job], out: Path, watch: Watch) -> Answer:
    """Run a bundle in this process."""
    try:
        return _run(bundle, out, watch)
    except SystemExit as error:  # of a learner, which is no reason to end the others
        return _failed(bundle, error)
    except Exception as error:  # noqa: BLE001 (it is returned)
        return _failed(bundle, contained(error))


def _run_remotely(bundle: Sequence[Job], out: Path, send: Watch) -> Answer:
    """Run a bundle for another process: events go there in words, records as their folders."""
    try:
        found = _run(bundle, out, lambda event: send(replace(event, learner=None, outputs=None)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (it is returned)
        return _failed(bundle, error)
    return [(one.path or one) if isinstance(one, RunRecord) else one for one in found]


def _run_in_workers(
    bundles: Sequence[Sequence[Job]], out: Path, workers: int, watch: Watch
) -> list[Answer]:
    """Run bundles in worker processes of this machine, one bundle at a time in each of them."""
    waiting = list(enumerate(bundles))
    answers: dict[int, Answer] = {}
    busy: dict[int, _Worker] = {}
    idle: list[_Worker] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                place, bundle = waiting.pop(0)
                busy[place] = idle.pop() if idle else _Worker()
                busy[place].begin(bundle, out)
            # Not only until a message comes: processes that a learner started may hold the
            # connection open after their worker has ended.
            connection.wait([worker.messages for worker in busy.values()], timeout=1.0)
            for place, worker in list(busy.items()):
                answer = worker.answer(watch)
                if answer is not None:
                    answers[place] = answer
                    del busy[place]
                    if worker.is_alive():
                        idle.append(worker)
    finally:
        # Also after Ctrl-C: a run folder is whole at every moment, so a worker may be stopped
        # wherever it is.
        for worker in [*busy.values(), *idle]:
            worker.stop()
    return [answers[place] for place in range(len(bundles))]


class _Worker:
    """A worker process, as its parent sees it."""

    def __init__(self) -> None:
        # Spawned, not forked: a forked child may inherit locks that another thread held.
        context = multiprocessing.get_context("spawn")
        self.messages, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid()))
        with _single_threaded():
            self._process.start()
        theirs.close()

    def begin(self, bundle: Sequence[Job], out: Path) -> None:
        """Send it a bundle to run."""
        self._bundle = bundle
        self._stage: str | None = None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which `answer` finds
            self.messages.send((bundle, out))

    def answer(self, watch: Watch) -> Answer | None:
        """Pass its events on, and return its answer, or that it has ended; None before that."""
        alive = self.is_alive()  # asked before its last messages are read
        while (message := self._receive()) is not None:
            if not isinstance(message, Event):
                return message
            if message.kind == "learning" and message.period is not None:
                self._stage = f"learning period {message.spec.periods[message.period]}"
            watch(message)
        return None if alive else self._ended()

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.is_alive()

    def stop(self) -> None:
        """End the process, wherever it is."""
        self._process.kill()
        self._process.join()
        self.messages.close()

    def _receive(self) -> Event | Answer | None:
        """Return its next message; None if there is none now."""
        try:
            message: Event | Answer | None = self.messages.recv() if self.messages.poll() else None
        except (EOFError, OSError):  # it has ended, possibly in the middle of a message
            return self._ended()
        return message

    def _ended(self) -> FailedRun:
        """Return the failure of a bundle whose worker process has ended."""
        self._process.join(_SECONDS_TO_END)
        code = self._process.exitcode
        self.stop()
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by signal {-code}{' (out of memory?)' if code == -9 else ''}"
        error = OnwardError(f"its worker process {how} before the run was finished")
        return _failed(self._bundle, error, self._stage)


def _serve(messages: "connection.Connection[Any, Any]", parent: int) -> None:
    """Run the bundles that come from the parent process; this is the worker process."""
    # Ctrl-C reaches every process of the terminal; the parent decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a learner prints must not end up inside the results that the parent prints.
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()

    def send(message: Any) -> None:
        try:
            messages.send(message)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(1)  # the parent was killed, which is no failure of the run

    while True:
        try:
            bundle, out = messages.recv()
        except EOFError:
            return
        send(_run_remotely(bundle, out, send))


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has been killed, which nothing else would tell it.

    The parent passes its own pid: if it was killed while this process was still importing modules,
    `os.getppid` already returns the pid of another process.
    """
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


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
