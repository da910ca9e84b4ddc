"""Reading batches ahead of training: `torch.utils.data.DataLoader`, where there are workers.

One item of the loader is one whole batch, so any number of workers gives the same batches.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.dlpack import from_dlpack

from onward.clocks import DEVICE, WAITING
from onward.errors import OnwardError
from onward.models.device import computing, explained, resolve_device
from onward.pairs import as_bytes
from onward.train.decode_cache import DecodeCache
from onward.types import Hardware, View
from onward.view import reader_of


class Movable(Protocol):
    """What can be moved to a device: a tensor, or something that has one."""

    def to(self, device: torch.device, *, non_blocking: bool = False) -> Any:
        """Return it on a device."""


T = TypeVar("T")
B = TypeVar("B", bound=Movable)
_WORKERS: ContextVar[int] = ContextVar("workers", default=0)
# Starting a process takes longer than reading fewer batches than this.
_FEWEST_BATCHES = 4
_DECODED = DecodeCache()


@contextlib.contextmanager
def loading_with(workers: int) -> Iterator[None]:
    """Let batches be read by so many processes."""
    token = _WORKERS.set(workers)
    try:
        yield
    finally:
        _WORKERS.reset(token)


@contextlib.contextmanager
def computing_on(hardware: Hardware) -> Iterator[None]:
    """Compute and load data as the hardware settings say, and count the time on a device."""
    on_device = resolve_device(hardware.device).type != "cpu"
    if on_device:
        DEVICE.start()
    try:
        with computing(hardware.threads), loading_with(hardware.workers):
            yield
    finally:
        if on_device:
            DEVICE.stop()


def batches(
    read: Callable[[T], B],
    items: Iterable[T],
    count: int,
    device: torch.device,
    *,
    in_memory: bool = False,
) -> Generator[tuple[T, B], None, None]:
    """Yield items with what is read for them, in order, on a device.

    Without workers a batch may be overwritten when the next one is read.

    Parameters
    ----------
    read
        Reads one batch: a tensor, or something with a method ``to`` as a tensor has it. Workers
        call it, so it must not depend on what training changes.
    items
        What each batch is read from, one after the other.
    count
        How many items there are.
    device
        Where batches are moved to.
    in_memory
        Whether reading is no more than a copy, which sending between processes would only add to.
    """
    workers = 0 if in_memory else min(_WORKERS.get(), count // _FEWEST_BATCHES)
    if not workers:
        for item in items:
            WAITING.start()
            try:
                found = read(item)
            finally:
                WAITING.stop()
            yield item, found.to(device)
        return
    pinned = device.type == "cuda"
    # A generator of its own: the loader would draw from the one that all of torch shares.
    loader = DataLoader(
        _Reading(read),
        batch_size=None,
        sampler=items,
        num_workers=workers,
        collate_fn=_as_it_is,
        pin_memory=pinned,
        worker_init_fn=_begin_worker,
        generator=torch.Generator(),
    )
    loaded: Any = iter(loader)
    try:
        while True:
            WAITING.start()
            try:
                item, found = next(loaded)
            except StopIteration:
                return
            except RuntimeError as error:
                raise explained(error) from error
            except (ConnectionError, EOFError) as error:
                if str(error).startswith("Caught "):  # in a worker, which goes on
                    raise
                # A worker that was killed before the memory of its batch was handed over.
                raise explained(RuntimeError("a DataLoader worker has ended")) from error
            finally:
                WAITING.stop()
            if isinstance(found, OnwardError):
                raise found
            yield item, found.to(device, non_blocking=pinned)
    finally:
        # An exception on its way holds on to the iterator: workers must not live as long.
        loaded._shutdown_workers()


def view_batches(
    view: View,
    device: torch.device,
    size: int | None = None,
    *,
    within: slice = slice(None),
) -> Generator[torch.Tensor, None, None]:
    """Yield the inputs of a view in order on a device, as rows that models take.

    Inputs of test views that are decoded from files are decoded once, see `DecodeCache`.

    Parameters
    ----------
    view
        Counts the samples when they are used.
    device
        Where batches are moved to.
    size
        How many samples a batch has; by default as many as stay in a processor's cache.
    within
        The positions to begin and to end at.
    """
    reader, parts = reader_of(view), view.part_slices(size, within=within)
    names = [reader.cacheable_rows(part) for part in parts]
    cached = [name is not None and _DECODED.has(*name) for name in names]
    missing = [part for part, is_cached in zip(parts, cached, strict=True) if not is_cached]
    loaded = batches(
        lambda part: from_dlpack(as_bytes(reader.read_part(part))),
        missing,
        len(missing),
        device,
        in_memory=reader.in_memory,
    )
    for part, name, is_cached in zip(parts, names, cached, strict=True):
        if name is not None and is_cached:
            inputs = _DECODED.get(*name).to(device)
        else:
            _, inputs = next(loaded)
            if name is not None:
                _DECODED.put(*name, inputs)
        view.count(part)
        yield inputs


class _Reading(Dataset[Any]):
    """Reads one batch per item; an error of a user's data is returned, to be raised as it is."""

    def __init__(self, read: Callable[[Any], Movable]) -> None:
        self._read = read

    def __getitem__(self, item: Any) -> Any:
        try:
            return item, self._read(item)
        except OnwardError as error:
            return item, error


def _as_it_is(item: Any) -> Any:
    """Return an item without turning its arrays into tensors."""
    return item


def _begin_worker(_: int) -> None:
    torch.set_num_threads(1)
