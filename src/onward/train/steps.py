"""Which samples each step of training sees, and their inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onward.crew import crew
from onward.errors import OnwardError
from onward.seeds import Draws, draws
from onward.tasks.boxes import mirrored
from onward.train.augment import augmented, which_mirrored
from onward.train.method import TrainingSet
from onward.types import Array, Rows
from onward.view import aligned, reader_of


class Steps:
    """The batches of one call of `learn`, by step number.

    Every epoch is a new permutation of the samples that make it up. Replayed samples come round
    in permutations too, so that each is seen about as often as the others; where a batch replays
    all of them, they stand in their own order. A method may also choose them batch by batch.

    Parameters
    ----------
    training
        What is trained on.
    batch_size
        How many samples of the epoch a batch has; the last one of an epoch may have fewer.
    key
        What they are drawn from, beside the epoch.
    whole
        Whether all batches have the same size: epochs follow each other without a gap.
    replacement
        Whether every batch is drawn from all samples instead, each sample by itself.
    """

    def __init__(
        self,
        training: TrainingSet,
        batch_size: int,
        key: Sequence[int],
        *,
        whole: bool = False,
        replacement: bool = False,
    ) -> None:
        self._training = training
        self._size = min(batch_size, training.epoch) if whole else batch_size
        self._key = key
        self._whole, self._replacement = whole, replacement
        self.per_epoch = max(-(-training.epoch // max(self._size, 1)), 1)
        self._epoch = -1
        self._orders: dict[int, Rows] = {}

    def within(self, passes: float) -> float:
        """Return how many steps there are in so many passes over the epoch."""
        if self._whole or self._replacement:
            return passes * self._training.epoch // max(self._size, 1)
        return passes * self.per_epoch

    def __getitem__(self, step: int) -> Rows:
        epoch, batch = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._shuffle(epoch)
        if self._replacement:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            chosen = rng.integers(0, self._training.epoch, self._size)
        elif self._whole:
            chosen = self._on_and_on(step)
        else:
            chosen = self._order[batch * self._size : (batch + 1) * self._size]
        replay = self._training.replay
        if self._training.draw is not None:
            rng = draws(Draws.BATCHES, *self._key, epoch, batch)
            again = self._training.draw(chosen, rng)[:replay]
        elif self._training.replays_all:
            again = self._replay
        else:
            again = self._replay[batch * replay : (batch + 1) * replay]
        return np.concatenate([chosen, again]) if len(again) else chosen

    def _on_and_on(self, step: int) -> Rows:
        """Return a batch out of all epochs put one behind the other."""
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
        if self._training.draw is None and not self._training.replays_all:
            wanted = self.per_epoch * self._training.replay if len(spare) else 0
            rounds = [rng.permutation(spare) for _ in range(-(-wanted // max(len(spare), 1)))]
            self._replay = np.concatenate(rounds) if rounds else spare[:0]


class BatchReader:
    """Reads the inputs of one batch after another, into one buffer where they lie in memory.

    A fresh array of some megabytes for every batch would cost more than the copy. Where every batch
    replays all of a memory, that is read once and stays behind the place of the new samples.
    Augmented images are new every time.

    Parameters
    ----------
    training, batch_size, augment, key
        Of the training loop.
    shared
        Whether a process of several may read its share alone, since nobody but the model needs the
        inputs.
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
        """Return the labels of a step as its images, so wide, were augmented: boxes move along."""
        if labels.ndim != 3 or self._augment == "none":
            return labels
        if self._augment != "flip":
            raise OnwardError(
                f"expected augment none or flip where boxes are learned, found {self._augment!r}: "
                "boxes do not move along with a crop"
            )
        rng = draws(Draws.VARIATION, *self._key, step)
        return mirrored(labels, which_mirrored(rng, len(labels)), width)
