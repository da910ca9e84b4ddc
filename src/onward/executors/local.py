"""Jobs in worker processes of this machine, each with GPUs of its own where there are any."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any, Generic

from onward.executors.executor import (
    ONE_THREAD,
    R,
    Request,
    T,
    Work,
    WorkerLostError,
    cores,
    environment,
    stage_of,
)
from onward.executors.gpus import VARIABLE, local_slots
from onward.turns import Event, Watch

# A process that has closed its connection is about to end.
_SECONDS_TO_END = 10.0


class LocalExecutor:
    """Single-threaded worker processes, by default one per GPU, or else one per core."""

    def __init__(self, request: Request) -> None:
        self._slots = local_slots(request)
        self._hides_gpus = request.gpus_per_job == 0
        if self._slots is not None:
            self.workers = min(request.workers or self._slots.capacity, self._slots.capacity)
        else:
            # A GPU that is asked for by its number is one for all jobs.
            self.workers = request.workers or (1 if request.named_gpu else cores())

    def run_all(
        self,
        work: Work[T, R],
        items: Sequence[T],
        out: Path,
        watch: Watch,
        *,
        workers: int | None = None,
    ) -> list[R | Exception]:
        """Do something with each of several items; one item at a time in each worker."""
        waiting = list(enumerate(items))
        found: dict[int, R | Exception] = {}
        busy: dict[int, _Worker[T, R]] = {}
        idle: list[_Worker[T, R]] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < (workers or self.workers):
                    place, item = waiting.pop(0)
                    busy[place] = idle.pop() if idle else self._worker()
                    busy[place].begin(work, item, out)
                # Not only until a message comes: processes that a learner started may hold the
                # connection open after their worker has ended.
                connection.wait([worker.messages for worker in busy.values()], timeout=1.0)
                for place, worker in list(busy.items()):
                    answer = worker.answer(watch)
                    if answer is None:
                        continue
                    found[place] = answer[0]
                    del busy[place]
                    if worker.is_alive():
                        idle.append(worker)
                    elif self._slots is not None and worker.gpus is not None:
                        self._slots.give_back(worker.gpus)
        finally:
            # Also after Ctrl-C: a run folder is whole at every moment, so a worker may be stopped
            # wherever it is.
            for worker in [*busy.values(), *idle]:
                worker.stop()
                if self._slots is not None and worker.gpus is not None:
                    self._slots.give_back(worker.gpus)
        return [found[place] for place in range(len(items))]

    def _worker(self) -> "_Worker[T, R]":
        if self._slots is not None:
            return _Worker(self._slots.take())
        return _Worker(() if self._hides_gpus else None)


class _Worker(Generic[T, R]):
    """A worker process, as its parent sees it.

    Parameters
    ----------
    gpus
        The GPUs that it sees; None for those that this process sees.
    """

    def __init__(self, gpus: tuple[str, ...] | None) -> None:
        self.gpus = gpus
        # Spawned, not forked: a forked child may inherit locks that another thread held, and its
        # CUDA would see the GPUs of this process.
        context = multiprocessing.get_context("spawn")
        self.messages, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid()))
        with environment(ONE_THREAD | ({} if gpus is None else {VARIABLE: ",".join(gpus)})):
            self._process.start()
        theirs.close()

    def begin(self, work: Work[T, R], item: T, out: Path) -> None:
        """Send it an item."""
        self._stage: str | None = None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which `answer` finds
            self.messages.send((work, item, out))

    def answer(self, watch: Watch) -> tuple[R | Exception] | None:
        """Pass its events on, and return its answer, or that it has ended; None before that."""
        alive = self.is_alive()  # asked before its last messages are read
        while (received := self._receive()) is not None:
            (message,) = received
            if not isinstance(message, Event):
                return (message,)
            self._stage = stage_of(message) or self._stage
            watch(message)
        return None if alive else (self._ended(),)

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.is_alive()

    def stop(self) -> None:
        """End the process, wherever it is."""
        self._process.kill()
        self._process.join()
        self.messages.close()

    def _receive(self) -> tuple[Event | R | Exception] | None:
        """Return its next message; None if there is none now."""
        try:
            return (self.messages.recv(),) if self.messages.poll() else None
        except (EOFError, OSError):  # it has ended, possibly in the middle of a message
            return (self._ended(),)

    def _ended(self) -> WorkerLostError:
        """Return how the process has ended."""
        self._process.join(_SECONDS_TO_END)
        code = self._process.exitcode
        self.stop()
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by signal {-code}{' (out of memory?)' if code == -9 else ''}"
        message = f"its worker process {how} before the run was finished"
        return WorkerLostError(message, self._stage)


def _serve(messages: "connection.Connection[Any, Any]", parent: int) -> None:
    """Do what the parent process sends; this is the worker process."""
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
            work, item, out = messages.recv()
        except EOFError:
            return
        send(work(item, out, send))


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has been killed, which nothing else would tell it.

    The parent passes its own pid: if it was killed while this process was still importing modules,
    `os.getppid` already returns the pid of another process.
    """
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
