"""Data loading: which samples each batch has, reading them, and reading ahead by data workers.

One item of the `torch.utils.data.DataLoader` is one whole batch, so that any number of workers
gives the same batches.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info
from torch.utils.dlpack import from_dlpack

from onward import distributed
from onward.clocks import DEVICE, WAITING
from onward.errors import OnwardError
from onward.models.device import computing, explained, resolve_device
from onward.models.encoder import embed
from onward.pairs import as_bytes
from onward.seeds import Draws, draws
from onward.tasks.boxes import mirrored
from onward.train.augment import augmented, require_augmentable, which_mirrored
from onward.train.method import TrainingSet, WholeBatch
from onward.types import Array, Column, Hardware, Rows, View
from onward.view import Reader, aligned, reader_of


class Movable(Protocol):
    """What can be moved to a device: a tensor, or something that has one."""

    def to(self, device: torch.device, *, non_blocking: bool = False) -> Any:
        """Return it on a device."""


T = TypeVar("T")
B = TypeVar("B", bound=Movable)
_WORKERS: ContextVar[int] = ContextVar("workers", default=0)
# Starting a process takes longer than reading fewer batches than this.
_FEWEST_BATCHES = 4
CACHE_SIZE = 2**30
"""The most bytes that all columns of a process may keep in a `DecodeCache`."""
# The largest share of the memory that is still available: processes of a sweep share it.
_CACHE_SHARE = 1 / 8
# Images whose features are computed together.
_BATCH_SIZE = 64


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
    clock = DEVICE if on_device else contextlib.nullcontext()
    with clock, computing(hardware.threads), loading_with(hardware.workers):
        yield


def to_device(batch: Any, device: torch.device) -> Any:
    """Return a batch on a device; a GPU copies a tensor while the CPU goes on."""
    if device.type != "cuda" or not isinstance(batch, torch.Tensor):
        return batch.to(device)
    return batch.pin_memory().to(device, non_blocking=True)


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
    items, count
        What each batch is read from, and how many of them there are.
    device
        Where batches are moved to.
    in_memory
        Whether reading is no more than a copy, which sending between processes would only add to.
    """
    workers = 0 if in_memory else min(_WORKERS.get(), count // _FEWEST_BATCHES)
    if not workers:
        for item in items:
            with WAITING:
                found = read(item)
            yield item, to_device(found, device)
        return
    pinned = device.type == "cuda"
    # A generator of its own: the loader would draw from the one that all of torch shares. Its own
    # way to collate would turn positions into tensors.
    loader = DataLoader(
        _Reading(read),
        batch_size=None,
        sampler=items,
        num_workers=workers,
        collate_fn=tuple,
        pin_memory=pinned,
        generator=torch.Generator(),
    )
    loaded: Any = iter(loader)
    try:
        while True:
            try:
                with WAITING:
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
            if isinstance(found, OnwardError):
                raise found
            yield item, found.to(device, non_blocking=pinned)
    finally:
        # An exception on its way holds on to the iterator: workers must not live as long.
        loaded._shutdown_workers()


class DecodeCache:
    """Inputs decoded from files, by column and row, in the form that models take.

    Test sets are predicted after every period. What came first stays: they come round in the same
    order, so a cache that is smaller than all of them would find nothing if it replaced its oldest
    rows, and `capacity` bytes are kept at most. A column's rows are freed together with the column.
    """

    def __init__(self, capacity: int = CACHE_SIZE) -> None:
        self._capacity = capacity
        self._columns: WeakKeyDictionary[Column, dict[int, torch.Tensor]] = WeakKeyDictionary()

    def has(self, column: Column, rows: Rows) -> bool:
        """Whether all of these rows are there."""
        return self._columns.get(column, {}).keys() >= {*rows.tolist()}

    def get(self, column: Column, rows: Rows) -> torch.Tensor:
        """Return the inputs of these rows, all of which are there, as a new tensor on the CPU."""
        return torch.stack([self._columns[column][row] for row in rows.tolist()])

    def put(self, column: Column, rows: Rows, inputs: torch.Tensor) -> None:
        """Keep copies of the inputs of these rows, as long as there is room."""
        known = self._columns.setdefault(column, {})
        new = {row: place for place, row in enumerate(rows.tolist()) if row not in known}
        size = self.size + len(new) * inputs[0].nbytes
        if new and size <= min(self._capacity, _CACHE_SHARE * _available_memory()):
            # A copy: batches of workers lie in shared memory, which is scarce.
            copied = inputs.cpu().index_select(0, torch.tensor([*new.values()]))
            known.update(zip(new, copied, strict=True))

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        rows = [known for known in self._columns.values() if known]
        return sum(len(known) * next(iter(known.values())).nbytes for known in rows)


def _available_memory() -> float:
    """Return how many bytes the system can still give, where it says so."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return float("inf")


_CACHE = DecodeCache()


def view_batches(
    view: View,
    device: torch.device,
    size: int | None = None,
    *,
    shared: bool = False,
) -> Generator[torch.Tensor, None, None]:
    """Yield the inputs of a view in order on a device, as rows that models take.

    A batch has as many samples as stay in a processor's cache, or `size`. The view counts samples
    when they are used. Inputs of test views that are decoded from files are decoded once, see
    `DecodeCache`.

    With `shared`, each of several processes reads its `distributed.contiguous_share`; the view
    counts all samples.
    """
    share = distributed.contiguous_share(len(view)) if shared else slice(0, len(view))
    reader, parts = reader_of(view), view.part_slices(size, within=share)
    for others in (slice(0, share.start), slice(share.stop, len(view))):
        view.count(others)
    names = [reader.cacheable_rows(part) for part in parts]
    cached = [name is not None and _CACHE.has(*name) for name in names]
    missing = [part for part, is_cached in zip(parts, cached, strict=True) if not is_cached]
    read = partial(_read_part, reader)
    loaded = batches(read, missing, len(missing), device, in_memory=reader.in_memory)
    for part, name, is_cached in zip(parts, names, cached, strict=True):
        if name is not None and is_cached:
            inputs = _CACHE.get(*name).to(device)
        else:
            _, inputs = next(loaded)
            if name is not None:
                _CACHE.put(*name, inputs)
        view.count(part)
        yield inputs


def _read_part(reader: Reader, part: slice) -> torch.Tensor:
    return from_dlpack(as_bytes(reader.read_part(part)))


def embed_parts(
    read: Callable[[Rows], Array],
    parts: Sequence[Rows],
    *,
    network: Callable[[torch.Tensor], torch.Tensor],
    size: int,
    device: torch.device,
) -> Generator[Array, None, None]:
    """Yield the features of each part of some images.

    `read` returns images as bytes by their numbers, and a part is an array of numbers; `network`
    is on the device, and reads images of `size` pixels a side: see `embed`.
    """
    split = [np.split(part, range(_BATCH_SIZE, len(part), _BATCH_SIZE)) for part in parts]
    items = [*chain(*split)]
    with contextlib.closing(
        batches(partial(_tensor_of, read), items, len(items), device)
    ) as loaded:
        for part in split:
            found = [embed(images, network, size) for _, images in islice(loaded, len(part))]
            yield np.concatenate([features.cpu().numpy() for features in found])


def _tensor_of(read: Callable[[Rows], Array], rows: Rows) -> torch.Tensor:
    return torch.from_numpy(read(rows))


class BatchSampler:
    """The positions of the samples in each batch of one call of `learn`, by step number.

    Every epoch is a new permutation of the samples that make it up. Replayed samples are permuted
    too, so that each is seen about as often as the others; where a batch replays all of them, they
    are in their own order. A method may also choose them batch by batch.

    Parameters
    ----------
    batch_size
        How many samples of the epoch a batch has; the last one of an epoch may have fewer.
    key
        The seed and the number of the call, which permutations are drawn from.
    across_epochs
        Whether all batches have the same size, across the ends of epochs.
    replacement
        Whether every batch is drawn with replacement from all samples instead.
    """

    def __init__(
        self,
        training: TrainingSet,
        batch_size: int,
        key: Sequence[int],
        *,
        across_epochs: bool = False,
        replacement: bool = False,
    ) -> None:
        self._training, self._key = training, key
        self._size = min(batch_size, training.epoch) if across_epochs else batch_size
        self._across_epochs, self._replacement = across_epochs, replacement
        self.per_epoch = max(-(-training.epoch // max(self._size, 1)), 1)
        # A batch across the ends of epochs has samples of two, and replayed samples of another one.
        self._orders = lru_cache(3)(partial(_shuffled, training, key, self.per_epoch))

    def within(self, passes: float) -> float:
        """Return the number of steps in this number of passes over the epoch."""
        if self._across_epochs or self._replacement:
            return passes * self._training.epoch // max(self._size, 1)
        return passes * self.per_epoch

    def __getitem__(self, step: int) -> Rows:
        epoch, batch = divmod(step, self.per_epoch)
        training, replay = self._training, self._training.replay
        order, spare = self._orders(epoch)
        if self._replacement:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            chosen = rng.integers(0, training.epoch, self._size)
        elif self._across_epochs:
            chosen = self._batch_across_epochs(step)
        else:
            chosen = order[batch * self._size : (batch + 1) * self._size]
        if training.draw is not None:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            again = training.draw(chosen, rng)[:replay]
        else:
            again = spare if training.replays_all else spare[batch * replay :][:replay]
        return np.concatenate([chosen, again]) if len(again) else chosen

    def _batch_across_epochs(self, step: int) -> Rows:
        """Return a batch of the concatenated epochs."""
        start, count = step * self._size, self._training.epoch
        first, last = start // count, (start + self._size - 1) // count
        orders = [self._orders(epoch)[0] for epoch in range(first, last + 1)]
        return np.concatenate(orders)[start - first * count :][: self._size]


def _shuffled(
    training: TrainingSet, key: Sequence[int], per_epoch: int, epoch: int
) -> tuple[Rows, Rows]:
    """Return the order of an epoch's samples, and that of the samples to replay."""
    rng = draws(Draws.BATCHES, *key, epoch)
    order = training.view.shuffled(training.epoch, rng)
    spare = np.arange(training.epoch, len(training.view))
    if training.draw is not None or training.replays_all or not len(spare):
        return order, spare
    rounds = -(-per_epoch * training.replay // len(spare))
    return order, np.concatenate([spare[:0], *(rng.permutation(spare) for _ in range(rounds))])


class BatchReader:
    """Reads the inputs of batches, into one buffer where inputs are in memory.

    A new array of some megabytes for every batch would cost more than the copy. Where every batch
    replays all of a memory, that is read once and stays in the buffer, behind the new samples.

    Each of several processes reads its samples of a batch.
    """

    def __init__(
        self,
        training: TrainingSet,
        batch_size: int,
        augment: str,
        key: Sequence[int],
    ) -> None:
        self._reader = reader_of(training.view)
        self._augment, self._key = augment, key
        if augment != "none":
            require_augmentable(self._reader, augment)
        self._keeps = training.replays_all and augment == "none"
        self._size, self._replay = batch_size, training.replay
        self._buffer: Array | None = None
        # By first position and number: replayed samples of this process that are read already. It
        # has others where the number of new samples of a batch is not divisible by the processes.
        self._memories: dict[tuple[int, int], Array] = {}
        self._in_buffer: tuple[int, int] | None = None

    @property
    def in_memory(self) -> bool:
        """Whether reading is no more than a copy."""
        return self._reader.in_memory and self._augment == "none"

    def read_step(self, step_and_batch: tuple[int, WholeBatch]) -> torch.Tensor:
        """Return the inputs of a step as a tensor: an item of the loader, also in its workers."""
        found = self(*step_and_batch)
        tensor = torch.from_numpy(found if found.dtype.names is None else as_bytes(found))
        # A worker's batch is sent by another thread, while the buffer may be written to again.
        return tensor.clone() if self._keeps and get_worker_info() is not None else tensor

    def __call__(self, step: int, whole: WholeBatch) -> Array:
        """Return the inputs of this process's samples of a batch."""
        indices = whole.indices
        positions = whole.positions[indices]
        if self._augment != "none":
            return augmented(self._reader, positions, self._augment, (*self._key, step), indices)
        if not self._keeps:
            inputs = self._reader.read(positions, out=self._buffer)
            if self._buffer is None or len(inputs) > len(self._buffer):
                self._buffer = aligned(inputs.shape, inputs.dtype)
            return inputs
        new, kept = positions[: whole.own_new], positions[whole.own_new :]
        buffer, end = self._with_memory(kept, keep=whole.shared), self._size + len(kept)
        place = buffer[self._size - len(new) : self._size]
        inputs = self._reader.read(new, out=place)
        if not np.may_share_memory(inputs, place):
            place[...] = inputs
        return buffer[self._size - len(new) : end]

    def _with_memory(self, positions: Rows, *, keep: bool) -> Array:
        """Return the buffer with these replayed samples behind the place of the new ones."""
        name = int(positions[0]), len(positions)
        if self._buffer is None or name != self._in_buffer:
            memory = self._memories.get(name)
            if memory is None:
                memory = self._reader.read(positions)
                if keep:
                    self._memories[name] = memory
            if self._buffer is None:
                shape = self._size + self._replay, *memory.shape[1:]
                self._buffer = aligned(shape, memory.dtype)
            self._buffer[self._size : self._size + len(positions)] = memory
            self._in_buffer = name
        return self._buffer

    def labels(self, step: int, whole: WholeBatch, labels: Any, width: int) -> Any:
        """Return the labels of a step; boxes are mirrored with their images, which are so wide."""
        if labels.ndim != 3 or self._augment == "none":
            return labels
        if self._augment != "flip":
            raise OnwardError(
                f"expected augment none or flip where boxes are learned, found {self._augment!r}: "
                "boxes do not move along with a crop"
            )
        which = which_mirrored((*self._key, step), whole.indices)
        return mirrored(labels, which, width)


class _Reading(Dataset[Any]):
    """Reads one batch per item; an error of a user's data is returned, to be raised as it is."""

    def __init__(self, read: Callable[[Any], Movable]) -> None:
        self._read = read

    def __getitem__(self, item: Any) -> Any:
        try:
            return item, self._read(item)
        except OnwardError as error:
            return item, error
