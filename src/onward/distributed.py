"""Several processes that make one run together, started by ``torchrun``.

Every process makes the same run with the same seed, so all of them are always at the same place of
it; the samples of each batch are shared out. The main process, rank 0, writes the run folder and
prints. In a run of one process every function here returns at once.
"""

import atexit
import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from onward.errors import DivergedError, OnwardError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
# Collectives may wait for long: while rank 0 scores a test, or waits for a folder that is in use.
# Processes that are lost are noticed by their heartbeat.
_COLLECTIVE_TIMEOUT = timedelta(days=1)
_RENDEZVOUS_TIMEOUT = timedelta(minutes=15)
_HEARTBEAT_SECONDS, _LOST_AFTER_SECONDS = 5.0, 60.0
_FINISHED = b"finished"
# What gloo and NCCL say when another process is gone.
_LOST_PEER = ("onnection closed", "onnection reset", "onnection refused", "roken pipe", "aborted")
# Whether the batch of the step at hand is shared out.
_SHARING: ContextVar[bool] = ContextVar("sharing", default=False)


class LostProcessError(OnwardError):
    """Another process of the run has ended, or does not answer."""


def world_size() -> int:
    """Return the number of processes that make this run together."""
    return _group().world_size


def rank() -> int:
    """Return the number of this process, from 0."""
    return _group().rank


def is_main_process() -> bool:
    """Whether this process writes the run folder and prints."""
    return rank() == 0


def contiguous_share(samples: int) -> slice:
    """Return which of a number of samples in order this process has.

    Of fewer samples than processes, each has all.
    """
    if samples < world_size():
        return slice(0, samples)
    return slice(*(samples * number // world_size() for number in (rank(), rank() + 1)))


def can_share(*parts: int) -> bool:
    """Whether a batch is shared out: every process gets samples of each part that has any.

    If not, every process computes the whole batch.
    """
    return world_size() > 1 and all(part == 0 or part >= world_size() for part in parts)


def share_of_batch() -> slice:
    """Return which samples of a batch that is shared out are this process's: every n-th."""
    return slice(rank(), None, world_size())


def is_sharing() -> bool:
    """Whether the batch at hand is shared out, and losses that compare samples need the others."""
    return _SHARING.get()


@contextlib.contextmanager
def sharing(*, shared: bool) -> Iterator[None]:
    """Say for as long as the context lasts whether the batch at hand is shared out."""
    token = _SHARING.set(shared)
    try:
        yield
    finally:
        _SHARING.reset(token)


def gather(own: "Tensor", counts: list[int]) -> "list[Tensor]":
    """Return the rows of each process, given this one's; ``counts`` are their numbers.

    Gradients flow back to the processes that the rows come from, where rows require gradients.
    """
    if world_size() == 1:
        return [own]
    import torch

    from onward.collectives import AllGather

    padded = torch.cat([own, own.new_zeros(max(counts) - len(own), *own.shape[1:])])
    with collective():
        every: Tensor = AllGather.apply(padded)  # type: ignore[no-untyped-call]
    return [rows[:count] for rows, count in zip(every, counts, strict=True)]


def all_counts(own: int) -> list[int]:
    """Return how many rows each process has, given how many this one has."""
    import torch

    counts = torch.zeros(world_size(), dtype=torch.int64)
    counts[rank()] = own
    found: list[int] = all_reduce(counts)[0].tolist()
    return found


def gather_batch(own: "Tensor", part: range) -> "Tensor":
    """Return some rows of a batch that is shared out, in order.

    `part` has the indices of these rows in the whole batch, and `own` those of this process, which
    has every n-th of the batch.
    """
    import torch

    size = world_size()
    of_process = [[index for index in part if index % size == number] for number in range(size)]
    rows = torch.cat(gather(own, [len(indices) for indices in of_process]))
    order = torch.tensor([index for indices in of_process for index in indices]).argsort()
    return rows[order.to(own.device)]


def gather_contiguous(own: "Tensor", samples: int) -> "Tensor":
    """Return all rows, given those of this process's `contiguous_share`."""
    import torch

    size = world_size()
    if size == 1 or samples < size:
        return own
    ends = [samples * number // size for number in range(size + 1)]
    return torch.cat(gather(own, [after - before for before, after in pairwise(ends)]))


def all_reduce(*tensors: "Tensor") -> "list[Tensor]":
    """Return the sums of tensors over all processes; they are sent in one piece."""
    import torch
    from torch import distributed

    if world_size() == 1 or not tensors:
        return [*tensors]
    flat = torch.cat([tensor.detach().flatten() for tensor in tensors])
    with collective():
        distributed.all_reduce(flat)
    pieces = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [piece.view(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True)]


def broadcast(find: Callable[[], T]) -> T:
    """Return what the main process finds; an `OnwardError` that it raises, all raise."""
    if world_size() == 1:
        return find()
    from torch import distributed

    message: list[Any] = [None, None]
    if is_main_process():
        try:
            message[0] = find()
        except OnwardError as error:
            message[1] = error
    with collective():
        distributed.broadcast_object_list(message)
    if message[1] is not None:
        raise message[1]
    found: T = message[0]
    return found


def require_equal(found: Any, otherwise: str) -> None:
    """Raise an error with this message unless all processes have found the same."""
    (different,) = all_reduce(_flag(broadcast(lambda: found) != found))
    if different.any():
        raise OnwardError(otherwise)


def _flag(is_set: bool) -> "Tensor":  # noqa: FBT001 (the only argument)
    import torch

    return torch.tensor([float(is_set)])


def first_to_fail() -> bool:
    """Whether no other process has failed before: the message of the first one is shown."""
    return _group().first_to_fail()


def contained(error: Exception) -> Exception:
    """Return the exception of one of several runs, which the others are to survive.

    With several processes it is raised instead: they must stay at the same place of the same run,
    and only divergence is sure to be found by all of them at the same step.
    """
    if world_size() > 1 and not isinstance(error, DivergedError):
        raise error
    return error


def require_device(kind: str, number: int | None) -> None:
    """Raise if several processes of one machine would compute on one device."""
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if world_size() > 1 and (kind == "mps" or (kind == "cuda" and number != local)):
        found = kind if number is None else f"{kind}:{number}"
        raise OnwardError(
            f"expected a GPU for each of several processes, cuda:{local} for this one, or the CPU; "
            f"found {found}. Choose --device cuda or --device cpu"
        )


def shut_down() -> None:
    """Leave the other processes, once all work is done."""
    if world_size() > 1:
        from torch import distributed

        _group().finish()
        if distributed.is_initialized():
            distributed.destroy_process_group()


@contextlib.contextmanager
def collective() -> Iterator[None]:
    """Say that a process was lost where an exception of a collective means that."""
    try:
        yield
    except RuntimeError as error:
        if not any(words in str(error) for words in _LOST_PEER):
            raise
        raise LostProcessError(
            "expected all processes of this run to continue, and one has ended. Its own message "
            "says why; if there is none, it was killed (out of memory?). Run the same command "
            "again, with any number of processes: it continues from the last checkpoint"
        ) from error


class _Group:
    """The processes of a run; by default one."""

    rank, world_size = 0, 1

    def first_to_fail(self) -> bool:
        return True

    def finish(self) -> None:
        """Say that this process ends as it should."""


class _ProcessGroup(_Group):
    """Several processes, each of which shows the others by a heartbeat that it is alive.

    A collective of torch would wait for a process that hangs or whose machine is gone. A thread
    sends the heartbeat through the store by which the processes have found each other, and ends
    this process once another one has been silent for a minute. A second thread does so if the store
    itself does not answer.
    """

    def __init__(self, store: Any, rank: int, world_size: int) -> None:
        self._store, self.rank, self.world_size = store, rank, world_size
        # A connection of its own: a call of the other one may block.
        self._heartbeats = _own_connection(store)
        self._finished, self._answered = threading.Event(), time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch_store, daemon=True).start()

    def first_to_fail(self, store: Any = None) -> bool:
        try:
            first = (store or self._store).compare_set("onward/failed", "", str(self.rank))
        except RuntimeError:  # the store is gone: the process that has ended everything has it
            return self.rank == 0
        return bool(first == str(self.rank).encode())

    def finish(self) -> None:
        self._finished.set()
        self._thread.join(_HEARTBEAT_SECONDS)
        with contextlib.suppress(RuntimeError):
            self._heartbeats.set(self._key(self.rank), _FINISHED.decode())

    def _key(self, number: int) -> str:
        return f"onward/heartbeat/{number}"

    def _watch(self) -> None:
        """Send the heartbeat, and look for those of the others."""
        last = dict.fromkeys(set(range(self.world_size)) - {self.rank}, b"")
        heard = dict.fromkeys(last, time.monotonic())
        for beat in range(sys.maxsize):
            with contextlib.suppress(RuntimeError):
                self._heartbeats.set(self._key(self.rank), str(beat))
                # After a pause of this process, the others may have paused too.
                paused = time.monotonic() - self._answered > 2 * _HEARTBEAT_SECONDS
                for number, before in last.items():
                    key = self._key(number)
                    found = self._heartbeats.get(key) if self._heartbeats.check([key]) else b""
                    if paused or found != before or found == _FINISHED:
                        last[number], heard[number] = found, time.monotonic()
                self._answered = time.monotonic()
                silent = [n for n, at in heard.items() if self._answered - at > _LOST_AFTER_SECONDS]
                if silent and not self._finished.is_set():
                    found_first = self.first_to_fail(self._heartbeats)
                    _end_lost(f"process {', '.join(map(str, silent))}", print_it=found_first)
            if self._finished.wait(_HEARTBEAT_SECONDS):
                return

    def _watch_store(self) -> None:
        """Look whether the store answers the other thread."""
        before = time.monotonic()
        while not self._finished.wait(_HEARTBEAT_SECONDS):
            now = time.monotonic()
            if now - before > 2 * _HEARTBEAT_SECONDS:  # this process was paused
                self._answered = now
            if now - self._answered > _LOST_AFTER_SECONDS:
                _end_lost("the process that connects them", print_it=True)
            before = now


def _end_lost(who: str, *, print_it: bool) -> None:
    """End this process, since another one is lost: a collective that waits cannot be interrupted.

    Run folders are whole at any time.
    """
    if print_it and sys.__stderr__ is not None:
        sys.__stderr__.write(
            f"onward: expected all processes of this run to continue, found no sign of {who} for "
            f"{_LOST_AFTER_SECONDS:.0f} seconds: it hangs, or its machine is gone. Run the same "
            "command again, with any number of processes: it continues from the last checkpoint\n"
        )
        sys.__stderr__.flush()
    os._exit(1)


def _own_connection(store: Any) -> Any:
    """Return another connection to the store by which the processes have found each other."""
    if hasattr(store, "clone"):
        return store.clone()
    from torch import distributed  # torch before 2.8

    connect: Any = vars(distributed)["TCPStore"]
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    return connect(address, port, is_master=False)


@contextlib.contextmanager
def _default_signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end this process while it waits for the others outside of Python."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@functools.cache
def _group() -> _Group:
    """Return the processes that torchrun has started, or this one alone."""
    size = os.environ.get("WORLD_SIZE", "1")
    if size == "1" or "RANK" not in os.environ:
        return _Group()
    import torch
    from torch import distributed
    from torch.distributed.rendezvous import rendezvous

    if torch.cuda.is_available():
        local, gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local < gpus:  # otherwise `require_device` says so, unless this run is on the CPU
            torch.cuda.set_device(local)
    # Objects are sent between CPUs, tensors between the devices that have them.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        with _default_signals():
            store, number, count = next(rendezvous("env://", timeout=_RENDEZVOUS_TIMEOUT))
        distributed.init_process_group(
            backend, store=store, rank=number, world_size=count, timeout=_COLLECTIVE_TIMEOUT
        )
    except (RuntimeError, ValueError) as error:
        raise OnwardError(
            f"expected to find the {size} processes of this run (WORLD_SIZE and RANK are set), and "
            f"did not: {error}. Start all of them with torchrun, with another --rdzv-endpoint or "
            "--master-port if the port is in use, or unset these variables"
        ) from error
    # Otherwise threads of gloo may abort the process at its end.
    atexit.register(shut_down)
    return _ProcessGroup(store, number, count)
