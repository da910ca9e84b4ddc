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


@dataclass(frozen=True, eq=False)
class FolderColumn(NoisyImages):
    """Abstract: a wide column of image files, one per row; `shape` says what they are decoded to.

    Paths begin in the folder ``root``.
    """

    # A cache may keep what was decoded of a test set, see `onward.train.loading`.
    decodes_files: ClassVar[bool] = True

    root: Path
    paths: Sequence[str]

    def _each(
        self, rows: Rows, cut: Callable[[Image.Image, int], NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        images = np.empty((len(rows), *self.shape[1:]), np.uint8)
        for place, row in enumerate(rows.tolist()):
            if self.noise is None or self.noise.shown[row] < 0:
                images[place] = cut(self._opened(row), place)
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
        return self.crop(rows, None)

    def crop(self, rows: Rows, at: NDArray[np.float64] | None) -> NDArray[np.uint8]:
        """Return the images of these rows, cropped at these shares of their longer edges.

        A share goes from 0 for the left or top end up to 1; ``None`` is the centre.
        """
        shares = [None] * len(rows) if at is None else at.tolist()
        edge = self.shorter or self.size
        return self._each(rows, lambda image, place: square(image, self.size, shares[place], edge))

    def resized_part(
        self, rows: Rows, tries: NDArray[np.float64], least: float
    ) -> NDArray[np.uint8]:
        """Return a random part of each of these images, resized to the square: `random_part`.

        `tries` are uniform numbers (row, try, 4).
        """
        return self._each(
            rows, lambda image, place: random_part(image, self.size, tries[place], least)
        )


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


def random_part(
    image: Image.Image,
    size: int,
    tries: NDArray[np.float64],
    least: float,
    resample: Image.Resampling = Image.Resampling.BILINEAR,
) -> NDArray[np.uint8]:
    """Cut out a part of at least a share of the area, a fourth wider or higher, and resize it.

    As torchvision's RandomResizedCrop: parts that do not fit are tried again; after the last try,
    it is the centre.

    Each try is four uniform numbers: area, shape, left, top.
    """
    width, height = image.size
    for area, shape, left, top in tries.tolist():
        wanted = width * height * (least + (1 - least) * area)
        ratio = (3 / 4) ** (1 - 2 * shape)
        wide, high = round((wanted * ratio) ** 0.5), round((wanted / ratio) ** 0.5)
        if 0 < wide <= width and 0 < high <= height:
            x, y = int(left * (width - wide + 1)), int(top * (height - high + 1))
            break
    else:
        wide = min(width, round(height * 4 / 3))
        high = min(height, round(width * 4 / 3))
        x, y = (width - wide) // 2, (height - high) // 2
    # Cut out first: a resized box would also look at pixels beyond its edge.
    resized = image.crop((x, y, x + wide, y + high)).resize((size, size), resample)
    return np.asarray(resized if resized.mode == "RGB" else resized.convert("RGB"), np.uint8)


def square(
    image: Image.Image,
    size: int,
    at: float | None = None,
    shorter: int | None = None,
    resample: Image.Resampling = Image.Resampling.BILINEAR,
) -> NDArray[np.uint8]:
    """Resize the shorter edge, by default to `size`, and cut out the centre, or at a share."""
    width, height = image.size
    short, to = min(width, height), shorter or size
    if short != to:
        # Rounded down as torchvision does, so that the crop takes the same pixels.
        width, height = (to if edge == short else int(to * edge / short) for edge in image.size)
        image = image.resize((width, height), resample)
    # At a share, all whole offsets are as likely as each other.
    left, top = (
        round(spare / 2) if at is None else min(int(at * (spare + 1)), spare)
        for spare in (width - size, height - size)
    )
    cut = image.crop((left, top, left + size, top + size))
    return np.asarray(cut if cut.mode == "RGB" else cut.convert("RGB"), np.uint8)


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
