"""CLAD's images: objects cut out of frames as squares, and whole frames of one size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from onward.data.cache import cached
from onward.data.extracted import Watch
from onward.data.folder_images import FolderColumn, opened, rgb_bytes
from onward.types import Array, Rows

# Of a frame of 1,920 x 1,080: what is added around an object, and half the largest square.
_FRAME_HEIGHT, _PADDING, _LARGEST = 1080, 5, 539
# Frames that take more than this, decoded, stay on disk.
_IN_MEMORY = 2**30


def square_around(box: Sequence[float], frame: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the square that shows an object with what is around it, inside its frame.

    As the released code does it: half its side is half the longer side of the box and 5 pixels, at
    most 539; where it would leave the frame, it is shifted back. What is around an object is real,
    where the paper speaks of padding. For frames of another height, both numbers are scaled.

    A box is its left and top, its width and height; a frame its width and height.

    Examples
    --------
    >>> square_around((100, 200, 40, 20), (1920, 1080))
    (95, 185, 145, 235)
    >>> square_around((0, 0, 40, 20), (1920, 1080))  # shifted back inside
    (0, 0, 50, 50)
    >>> square_around((10, 20, 4, 2), (192, 108))  # a tenth of the frame, a tenth of the padding
    (9, 18, 15, 24)
    """
    (x, y, w, h), (width, height) = box, frame
    scale = height / _FRAME_HEIGHT
    padding, largest = max(1, round(_PADDING * scale)), int(_LARGEST * scale)
    half = min(int(max(w, h)) // 2 + padding, largest, (width - 1) // 2, (height - 1) // 2)
    middle_x = min(max(int(x) + int(w) // 2, half), width - 1 - half)
    middle_y = min(max(int(y) + int(h) // 2, half), height - 1 - half)
    return middle_x - half, middle_y - half, middle_x + half, middle_y + half


def crops(
    folder: Path,
    paths: Sequence[str],
    boxes: Array,
    size: int,
    key: str,
    progress: Watch,
) -> NDArray[np.uint8]:
    """Return the square of each object as RGB bytes; cut once, then read from the cache.

    `paths` has the frame of each object, below the folder; `boxes` left, top, width and height of
    each. `key` names the content: the annotations and what was left out of them. `progress` is told
    how many frames have been read, and of how many.
    """

    def compute() -> Array:
        whole = np.empty((len(paths), size, size, 3), np.uint8)
        frames, which = np.unique(np.asarray(paths), return_inverse=True)
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(frames) + 1))
        for number, name in enumerate(frames.tolist()):
            image = opened(folder / name)
            for row in order[ends[number] : ends[number + 1]].tolist():
                place = square_around(boxes[row].tolist(), image.size)
                cut = image.crop(place).resize((size, size), Image.Resampling.BICUBIC)
                whole[row] = np.asarray(cut)
            progress(number + 1, len(frames))
        return whole

    return np.asarray(cached(f"clad-crops-{key}-{size}", compute))


@dataclass(frozen=True, eq=False)
class Frames(FolderColumn):
    """A wide column of whole frames of one height and width, decoded when they are asked for."""

    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one frame."""
        return (len(self.paths), *self.size, 3)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the frames of these rows as RGB bytes."""
        return self._each(rows, lambda image, place: resized(image, self.size))

    def at_hand(self, key: str, progress: Watch) -> "NDArray[np.uint8] | Frames":
        """Return all frames decoded, from the cache, if there is room for them."""
        if np.prod(self.shape) > _IN_MEMORY:
            return self

        def compute() -> Array:
            whole = np.empty(self.shape, np.uint8)
            for row in range(len(self.paths)):
                whole[row] = rgb_bytes(resized(self._opened(row), self.size))
                progress(row + 1, len(self.paths))
            return whole

        height, width = self.size
        return np.asarray(cached(f"clad-frames-{key}-{height}x{width}", compute))


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return an image of this height and width."""
    height, width = size
    if image.size == (width, height):
        return image
    return image.resize((width, height), Image.Resampling.BILINEAR)
