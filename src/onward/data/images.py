"""Images of a table: stored once each, decoded in bulk when they are asked for."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

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
        return np.stack([_decode(self._encoded[number]) for number in numbers])


@dataclass(frozen=True, eq=False)
class ImageColumn:
    """A wide column of images: each row names one image of a store.

    ``noise`` holds further images behind those of the store; checks put them in the place of a
    future that must not matter.
    """

    store: ImageStore
    index: Rows
    noise: NDArray[np.uint8] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        return (len(self.index), *self.store.shape)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of these rows as RGBA bytes."""
        numbers, place = np.unique(self.index[rows], return_inverse=True)
        stored = numbers < len(self.store)
        images = np.empty((len(numbers), *self.store.shape), np.uint8)
        if stored.any():
            images[stored] = self.store.decode(numbers[stored])
        if self.noise is not None:
            images[~stored] = self.noise[numbers[~stored] - len(self.store)]
        return images[place]

    def with_noise(self, rows: Rows, rng: np.random.Generator, images: int = 64) -> "ImageColumn":
        """Return this column with random pixels in these rows."""
        noise = rng.integers(0, 256, (images, *self.shape[1:]), np.uint8)
        index = self.index.copy()
        index[rows] = len(self.store) + rng.integers(0, images, len(rows))
        return ImageColumn(self.store, index, noise)


@dataclass(frozen=True, eq=False)
class NoisyImages:
    """Abstract: a wide column of images with random ones in place of some.

    Checks put them where a future must not matter. ``noise`` has the random images, and ``noised``
    by row which of them it shows; -1 for its own.
    """

    _NOISES: ClassVar[int] = 16

    noise: NDArray[np.uint8] | None = field(default=None, kw_only=True)
    noised: Rows | None = field(default=None, kw_only=True)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        raise NotImplementedError

    def with_noise(self, rows: Rows, rng: np.random.Generator) -> Self:
        """Return this column with random pixels in these rows."""
        noise = rng.integers(0, 256, (self._NOISES, *self.shape[1:]), np.uint8)
        noised = np.full(self.shape[0], -1)
        noised[rows] = rng.integers(0, self._NOISES, len(rows))
        return replace(self, noise=noise, noised=noised)

    def put_noise(
        self, found: Array, rows: Rows, describe: Callable[[Array], Array] = np.asarray
    ) -> None:
        """Put random images, or what describes them, in the place of what was found in rows."""
        if self.noise is not None and self.noised is not None:
            random = self.noised[rows]
            found[random >= 0] = describe(self.noise)[random[random >= 0]]


def _decode(image: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGBA"))
