"""Images of a table: stored once each, decoded in bulk when they are asked for."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from onward.types import Array, Rows


class ImageStore:
    """Distinct images of one size, compressed until they are needed; their hash is `digest`."""

    def __init__(self, encoded: Sequence[bytes], digest: str) -> None:
        self._encoded = encoded
        self.digest = digest

    def __len__(self) -> int:
        return len(self._encoded)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image, known without decoding the others."""
        return _decode(self._encoded[0]).shape

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """All images as RGBA bytes of shape (n, height, width, 4)."""
        return self.decode(np.arange(len(self)))

    def decode(self, numbers: Rows) -> NDArray[np.uint8]:
        """Return the images of these numbers as RGBA bytes."""
        images = np.empty((len(numbers), *self.shape), np.uint8)
        for place, number in enumerate(numbers.tolist()):
            images[place] = _decode(self._encoded[number])
        return images


class Noise(NamedTuple):
    """Random values, and by row which of them it shows in place of its own; -1 for its own.

    Checks put them where a future must not matter.
    """

    values: Array
    shown: Rows

    @staticmethod
    def over(values: Array, rows: Rows, count: int, rng: np.random.Generator) -> "Noise":
        """Return noise in some rows of so many."""
        shown = np.full(count, -1)
        shown[rows] = rng.integers(0, len(values), len(rows))
        return Noise(values, shown)


@dataclass(frozen=True, eq=False)
class NoisyImages:
    """Abstract: a wide column of images with random ones in place of some."""

    _NOISES: ClassVar[int] = 16

    noise: Noise | None = field(default=None, kw_only=True)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        raise NotImplementedError

    def with_noise(self, rows: Rows, rng: np.random.Generator) -> Self:
        """Return this column with random pixels in these rows."""
        pixels = rng.integers(0, 256, (self._NOISES, *self.shape[1:]), np.uint8)
        return replace(self, noise=Noise.over(pixels, rows, self.shape[0], rng))

    def put_noise(
        self, found: Array, rows: Rows, describe: Callable[[Array], Array] = np.asarray
    ) -> None:
        """Put random images, or what describes them, in the place of what was found in rows."""
        if self.noise is not None:
            random = self.noise.shown[rows]
            found[random >= 0] = describe(self.noise.values)[random[random >= 0]]


@dataclass(frozen=True, eq=False)
class ImageColumn(NoisyImages):
    """A wide column of images: each row names one image of a store."""

    _NOISES: ClassVar[int] = 64

    store: ImageStore
    index: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        return (len(self.index), *self.store.shape)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of these rows as RGBA bytes."""
        numbers, place = np.unique(self.index[rows], return_inverse=True)
        images = self.store.decode(numbers)[place]
        self.put_noise(images, rows)
        return images


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """Return an image as a file of this format, such as ``JPEG``."""
    sink = io.BytesIO()
    image.save(sink, kind, **options)
    return sink.getvalue()


def _decode(image: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGBA"))
