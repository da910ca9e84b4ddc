"""Images that stay on disk: found by their paths, decoded when they are asked for."""

import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from onward.data.images import NoisyImages
from onward.errors import OnwardError
from onward.types import Rows

# What Pillow raises for bytes that are no image, a file that ends too early, a broken header, or
# a picture of absurd size.
UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
SUFFIXES = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp"}
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
Transform = Callable[[Image.Image, int], Image.Image]
"""Changes an image, given its place among those that are decoded together."""


@dataclass(frozen=True, eq=False)
class FolderColumn(NoisyImages):
    """Abstract: a wide column of image files, one per row; `shape` says what they are decoded to.

    Paths begin in the folder ``root``.
    """

    # A cache may keep what was decoded of a test set, see `onward.train.loading`.
    decodes_files: ClassVar[bool] = True

    root: Path
    paths: Sequence[str]

    def _each(self, rows: Rows, transform: Transform) -> NDArray[np.uint8]:
        images = np.empty((len(rows), *self.shape[1:]), np.uint8)
        for place, row in enumerate(rows.tolist()):
            if self.noise is None or self.noise.shown[row] < 0:
                images[place] = rgb_bytes(transform(self._opened(row), place))
        self.put_noise(images, rows)
        return images

    def _opened(self, row: int) -> Image.Image:
        return opened(self.root / self.paths[row])


@dataclass(frozen=True, eq=False)
class FolderImages(FolderColumn):
    """A wide column of image files, each decoded to a square of RGB bytes when it is indexed.

    The shorter edge is resized to ``size``, then the centre is cut out, as the released code of
    CLEAR does (its supplement says "longer edge"). ``shorter`` is what it is resized to instead, if
    the square is to be the middle of more.
    """

    size: int
    shorter: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        return (len(self.paths), self.size, self.size, 3)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of these rows as RGB bytes."""
        return self.transformed(rows, lambda image, _: centre(image, self.size), resize=True)

    def transformed(self, rows: Rows, transform: Transform, *, resize: bool) -> NDArray[np.uint8]:
        """Return the images of these rows, each made a square of this size by `transform`.

        With `resize`, it is given images whose shorter edge is resized, otherwise whole ones.
        """
        edge = self.shorter or self.size

        def made(image: Image.Image, place: int) -> Image.Image:
            return transform(shorter_edge_resized(image, edge) if resize else image, place)

        return self._each(rows, made)


def opened(path: Path) -> Image.Image:
    """Read one image.

    Orientation flags are not applied: the released codes do not either.
    """
    try:
        with Image.open(path) as file:
            return file.convert("RGB")
    except UNREADABLE as error:
        raise OnwardError(
            f"expected an image in {path}, found a file that cannot be decoded ({error}). Fetch "
            "it again from the download"
        ) from error


@contextmanager
def opened_image(
    content: bytes, where: Callable[[], str], mend: str = "Fetch it again, or leave it out"
) -> Iterator[Image.Image]:
    """Open the bytes of a file, which may be anything and of any size, as an image.

    If that cannot be, say where it lies and what is to be done.
    """
    try:
        with warnings.catch_warnings():
            # Pillow warns of an image that is too large before it refuses one twice as large.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
                yield image
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise OnwardError(
            f"expected an image of at most {Image.MAX_IMAGE_PIXELS:,} pixels in {where()}, "
            f"found a decompression bomb ({error}). {mend}"
        ) from error
    except UNREADABLE as error:
        # Pillow's own words for this name the object in memory that it read from.
        unknown = isinstance(error, UnidentifiedImageError)
        reason = f"none of {', '.join(_FORMATS)}" if unknown else error
        raise OnwardError(
            f"expected an image in {where()}, found bytes that cannot be decoded ({reason}). {mend}"
        ) from error


def square(
    image: Image.Image, size: int, resample: Image.Resampling = Image.Resampling.BILINEAR
) -> Image.Image:
    """Resize the shorter edge, and cut out the centre."""
    return centre(shorter_edge_resized(image, size, resample), size)


def shorter_edge_resized(
    image: Image.Image, size: int, resample: Image.Resampling = Image.Resampling.BILINEAR
) -> Image.Image:
    """Resize an image so that its shorter edge is `size`."""
    short = min(image.size)
    if short == size:
        return image
    # Rounded down as torchvision does, so that a crop takes the same pixels.
    edges = (size if edge == short else int(size * edge / short) for edge in image.size)
    width, height = edges
    return image.resize((width, height), resample)


def centre(image: Image.Image, size: int) -> Image.Image:
    """Cut out the centre."""
    left, top = (round((edge - size) / 2) for edge in image.size)
    return image.crop((left, top, left + size, top + size))


def rgb_bytes(image: Image.Image) -> NDArray[np.uint8]:
    """Return an image of any mode as RGB bytes."""
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"), np.uint8)


def file_sizes(root: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the size in bytes of every one of these files that is there.

    Folders are listed, which is many times faster than asking for each file.
    """
    sizes: dict[str, int] = {}
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        if not (root / folder).is_dir():
            continue
        with os.scandir(root / folder) as entries:
            for entry in entries:
                if entry.is_file():
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    sizes[name] = entry.stat().st_size
    return sizes
