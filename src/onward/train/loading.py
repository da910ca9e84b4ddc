"""Data loading: which samples each batch has, reading them, and reading ahead by data workers.

One item of the `torch.utils.data.DataLoader` is one whole batch, so that any number of workers
gives the same batches.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.dlpack import from_dlpack

from onward.clocks import DEVICE, WAITING
from onward.crew import crew
from onward.errors import OnwardError
from onward.models.device import computing, explained, resolve_device
from onward.pairs import as_bytes
from onward.seeds import Draws, draws
from onward.tasks.boxes import mirrored
from onward.train.augment import augmented, which_mirrored
from onward.train.decode_cache import DecodeCache
from onward.train.method import TrainingSet
from onward.types import Array, Hardware, Rows, View
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


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor on a device; a GPU copies it while the CPU goes on."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


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
        partial(_read_part, reader),
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


def _read_part(reader: Reader, part: slice) -> torch.Tensor:
    return from_dlpack(as_bytes(reader.read_part(part)))


class BatchSampler:
    """The positions of the samples in each batch of one call of `learn`, by step number.

    Every epoch is a new permutation of the samples that make it up. Replayed samples are permuted
    too, so that each is seen about as often as the others; where a batch replays all of them, they
    are in their own order. A method may also choose them batch by batch.

    Parameters
    ----------
    training
        What is trained on.
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
        self._training, self._replays_all = training, training.replays_all
        self._size = min(batch_size, training.epoch) if across_epochs else batch_size
        self._key = key
        self._across_epochs, self._replacement = across_epochs, replacement
        self.per_epoch = max(-(-training.epoch // max(self._size, 1)), 1)
        self._epoch = -1
        self._orders: dict[int, Rows] = {}

    def within(self, passes: float) -> float:
        """Return the number of steps in this number of passes over the epoch."""
        if self._across_epochs or self._replacement:
            return passes * self._training.epoch // max(self._size, 1)
        return passes * self.per_epoch

    def __getitem__(self, step: int) -> Rows:
        epoch, batch = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._shuffle(epoch)
        if self._replacement:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            chosen = rng.integers(0, self._training.epoch, self._size)
        elif self._across_epochs:
            chosen = self._batch_across_epochs(step)
        else:
            chosen = self._order[batch * self._size : (batch + 1) * self._size]
        replay = self._training.replay
        if self._training.draw is not None:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            again = self._training.draw(chosen, rng)[:replay]
        elif self._replays_all:
            again = self._replay
        else:
            again = self._replay[batch * replay : (batch + 1) * replay]
        return np.concatenate([chosen, again]) if len(again) else chosen

    def _batch_across_epochs(self, step: int) -> Rows:
        """Return a batch of the concatenated epochs."""
        start, count = step * self._size, self._training.epoch
        first, last = start // count, (start + self._size - 1) // count
        orders = [self._permuted(epoch) for epoch in range(first, last + 1)]
        return np.concatenate(orders)[start - first * count :][: self._size]

    def _permuted(self, epoch: int) -> Rows:
        if epoch not in self._orders:
            kept = {number: order for number, order in self._orders.items() if number == epoch - 1}
            rng = draws(Draws.BATCHES, *self._key, epoch)
            shuffled = self._training.view.shuffled(self._training.epoch, rng)
            self._orders = {**kept, epoch: shuffled}
        return self._orders[epoch]

    def _shuffle(self, epoch: int) -> None:
        rng = draws(Draws.BATCHES, *self._key, epoch)
        self._epoch = epoch
        self._order = self._training.view.shuffled(self._training.epoch, rng)
        spare = np.arange(self._training.epoch, len(self._training.view))
        self._replay = spare
        if self._training.draw is None and not self._replays_all:
            wanted = self.per_epoch * self._training.replay if len(spare) else 0
            rounds = [rng.permutation(spare) for _ in range(-(-wanted // max(len(spare), 1)))]
            self._replay = np.concatenate(rounds) if rounds else spare[:0]


class BatchReader:
    """Reads the inputs of batches, into one buffer where inputs are in memory.

    A new array of some megabytes for every batch would cost more than the copy. Where every batch
    replays all of a memory, that is read once and stays in the buffer, behind the new samples.

    Parameters
    ----------
    training, batch_size, augment, key
        Of the training loop.
    shared
        Whether each of several processes may read only its share of a batch.
    """

    def __init__(
        self,
        training: TrainingSet,
        batch_size: int,
        augment: str,
        key: Sequence[int],
        *,
        shared: bool = False,
    ) -> None:
        self._reader = reader_of(training.view)
        self._augment, self._key = augment, key
        alone = augment in ("none", "random_resized_crop") and not training.separate_replay
        self.shared = shared and alone and crew().size > 1
        keeps = training.replays_all and augment == "none" and not self.shared
        self._kept = training.replay if keeps else 0
        self._size = batch_size
        self._buffer: Array | None = None

    @property
    def in_memory(self) -> bool:
        """Whether reading is no more than a copy."""
        return self._reader.in_memory and self._augment == "none"

    def read_step(self, step_and_positions: tuple[int, Rows]) -> torch.Tensor:
        """Return the inputs of a step as a tensor: an item of the loader, also in its workers."""
        found = self(*step_and_positions)
        return torch.from_numpy(found if found.dtype.names is None else as_bytes(found))

    def __call__(self, step: int, positions: Rows) -> Array:
        """Return the inputs at these positions."""
        share = crew().share(len(positions)) if self.shared else slice(0, len(positions))
        if self._augment != "none":
            return augmented(self._reader, positions, self._augment, (*self._key, step), share)
        positions = positions[share]
        if not self._kept:
            inputs = self._reader.read(positions, out=self._buffer)
            if self._buffer is None or len(inputs) > len(self._buffer):
                self._buffer = aligned(inputs.shape, inputs.dtype)
            return inputs
        new, kept = positions[: -self._kept], positions[-self._kept :]
        if self._buffer is None:
            memory = self._reader.read(kept)
            self._buffer = aligned((self._size + len(memory), *memory.shape[1:]), memory.dtype)
            self._buffer[self._size :] = memory
        place = self._buffer[self._size - len(new) : self._size]
        inputs = self._reader.read(new, out=place)
        if not np.may_share_memory(inputs, place):
            place[...] = inputs
        return self._buffer[self._size - len(new) :]

    def labels(self, step: int, labels: Any, width: int) -> Any:
        """Return the labels of a step; boxes are mirrored with their images, which are so wide."""
        if labels.ndim != 3 or self._augment == "none":
            return labels
        if self._augment != "flip":
            raise OnwardError(
                f"expected augment none or flip where boxes are learned, found {self._augment!r}: "
                "boxes do not move along with a crop"
            )
        rng = draws(Draws.VARIATION, *self._key, step)
        return mirrored(labels, which_mirrored(rng, len(labels)), width)


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
