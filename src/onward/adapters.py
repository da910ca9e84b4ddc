"""Samples of a period for loops of your own: numpy batches, JAX, PyTorch and TensorFlow.

Streams and scores need numpy only. These functions hand what a period shows to a training loop
that is not Onward's; a run that is written down, checked and compared is `onward.run`.

    part = part_of(stream, period=0)
    for batch in batches(part, 128, seed=0): ...                    # numpy, JAX
    loader = DataLoader(torch_dataset(part), batch_size=128)        # PyTorch
    for inputs, targets in torch_batches(part, 128, seed=0): ...    # the same, and faster
    dataset = tensorflow_dataset(part).batch(128)                   # TensorFlow
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError, unknown
from onward.seeds import Draws, draws
from onward.tasks.many_labels import label_sets
from onward.types import Array, Column, Rows, Samples, Stream

Side = Literal["train", "validation", "test"]
_SIDES = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Part:
    """Some samples with their inputs and labels, and how many classes are known."""

    inputs: Column
    samples: Samples
    classes: int

    def __len__(self) -> int:
        return len(self.samples)

    def targets(self, positions: Rows | slice = slice(None)) -> Array:
        """Return labels: class numbers, or of many labels a 0 or 1 for each class.

        A label that is still to come is left out.
        """
        labels = self.samples.labels[positions]
        if labels.ndim == 1:
            return labels
        return label_sets(labels, self.classes).astype(np.float32)

    def rows(self, positions: Rows | slice = slice(None)) -> Rows:
        """Return the rows of the stream's table."""
        return self.samples.rows[positions]


class Batch(NamedTuple):
    """A batch; all have one shape. `real` says which samples are not mere filling."""

    inputs: Array
    targets: Array
    real: NDArray[np.bool_]


def part_of(
    stream: Stream, period: int, side: Side = "train", *, learned_upto: int | None = None
) -> Part:
    """Return what a period shows.

    Parameters
    ----------
    stream
        What ``benchmark.stream(seed)`` returned.
    period
        Its number.
    side
        ``train``, ``validation`` or ``test``.
    learned_upto
        The last period whose classes are known; by default this one.

    Examples
    --------
    >>> import onward
    >>> stream = onward.load("clear", data="emoji").stream(seed=0)
    >>> part = part_of(stream, period=0)
    >>> part.inputs.shape[1:], part.targets().shape == (len(part),)
    ((497,), True)
    """
    if side not in _SIDES:
        raise unknown("side", side, _SIDES, "onward.adapters.part_of")
    if "input" not in stream.table.wide:
        raise OnwardError("expected a stream with inputs, found one of rows and labels only")
    upto = period if learned_upto is None else learned_upto
    if not 0 <= period < len(stream) or not period <= upto < len(stream):
        raise OnwardError(
            f"expected a period from 0 to {len(stream) - 1}, and classes up to it or a later one, "
            f"found period {period} with classes up to {upto}"
        )
    classes = stream[upto].classes
    return Part(stream.table.wide["input"], getattr(stream[period], side), len(classes))


def batches(part: Part, size: int, *, seed: int | None = None, epoch: int = 0) -> Iterator[Batch]:
    """Yield all samples once, in arrays of one shape, as compiled functions such as JAX's need.

    Parameters
    ----------
    part
        The samples.
    size
        How many at a time. The last batch is filled up with samples that are not `real`.
    seed
        Shuffles them; None keeps their order.
    epoch
        Shuffles them otherwise each time.
    """
    for positions in _positions(part, size, seed, epoch):
        real = np.arange(size) < len(positions)
        filled = np.concatenate([positions, np.full(size - len(positions), positions[-1])])
        inputs = np.ascontiguousarray(part.inputs[part.rows(filled)])
        yield Batch(inputs, part.targets(filled), real)


def torch_batches(
    part: Part, size: int, *, seed: int | None = None, epoch: int = 0
) -> Iterator[tuple[Any, Any]]:
    """Yield tensors of inputs and targets; images as numbers from 0 to 1, colours first."""
    import torch

    for positions in _positions(part, size, seed, epoch):
        inputs = _tensor(part.inputs[part.rows(positions)])
        yield inputs, torch.from_numpy(part.targets(positions))


def torch_dataset(part: Part) -> Any:
    """Return a ``torch.utils.data.Dataset`` of pairs of tensors."""
    import torch

    class Pairs(torch.utils.data.Dataset):  # type: ignore[type-arg]
        """Samples one by one, or read together where a loader asks for several."""

        def __len__(self) -> int:
            return len(part)

        def __getitem__(self, position: int) -> tuple[Any, Any]:
            return self.__getitems__([position])[0]

        def __getitems__(self, positions: list[int]) -> list[tuple[Any, Any]]:
            wanted = np.asarray(positions, np.int64)
            if len(wanted) and not -len(part) <= wanted.min() <= wanted.max() < len(part):
                raise IndexError(f"expected positions below {len(part)}, found {wanted.max()}")
            inputs = _tensor(part.inputs[part.rows(wanted)])
            return list(zip(inputs, torch.from_numpy(part.targets(wanted)), strict=True))

        def __reduce__(self) -> tuple[Any, tuple[Part]]:
            # A loader's workers make it anew: the class is known here alone.
            return torch_dataset, (part,)

    return Pairs()


def generator(part: Part) -> Iterator[tuple[Array, Array]]:
    """Yield inputs and targets one by one, as ``tf.data.Dataset.from_generator`` wants them."""
    for batch in batches(part, 256):
        yield from zip(batch.inputs[batch.real], batch.targets[batch.real], strict=True)


def signature(part: Part) -> tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]:
    """Return shape and kind of numbers of one input and of one target."""
    first = slice(0, 1)
    arrays = (part.inputs[part.rows(first)], part.targets(first))
    return tuple((array.shape[1:], array.dtype) for array in arrays)


def tensorflow_dataset(part: Part) -> Any:
    """Return a ``tf.data.Dataset`` of inputs and targets; TensorFlow is imported here alone."""
    import tensorflow as tf

    kinds = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in signature(part))
    return tf.data.Dataset.from_generator(lambda: generator(part), output_signature=kinds)


def _positions(part: Part, size: int, seed: int | None, epoch: int) -> Iterator[Rows]:
    if size < 1:
        raise OnwardError(f"expected 1 sample or more at a time, found {size}")
    order = np.arange(len(part))
    if seed is not None:
        order = draws(Draws.BATCHES, seed, epoch).permutation(len(part))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _tensor(inputs: Array) -> Any:
    import torch

    from onward.models.pixels import to_pixels

    images = inputs.ndim == 4 and inputs.dtype == np.uint8
    return to_pixels(inputs) if images else torch.from_numpy(np.ascontiguousarray(inputs))
