"""Reading batches ahead of training: `torch.utils.data.DataLoader`, where there are workers.

One item of the loader is one whole batch, so any number of workers gives the same batches.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.dlpack import from_dlpack

from onward.errors import OnwardError
from onward.models.device import explained
from onward.pairs import as_bytes
from onward.train.decode_cache import DecodeCache
from onward.types import View
from onward.view import reader_of

T = TypeVar("T")
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


def batches(
    read: Callable[[T], torch.Tensor],
    items: Iterable[T],
    count: int,
    device: torch.device,
    *,
    in_memory: bool = False,
) -> Generator[tuple[T, torch.Tensor], None, None]:
    """Yield items with what is read for them, in order, on a device.

    Without workers a batch may be overwritten when the next one is read.

    Parameters
    ----------
    read
        Reads one batch. Workers call it, so it must not depend on what training changes.
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
            yield item, read(item).to(device)
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
            try:
                item, found = next(loaded)
            except StopIteration:
                return
            except RuntimeError as error:
                raise explained(error) from error
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

    def __init__(self, read: Callable[[Any], torch.Tensor]) -> None:
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
