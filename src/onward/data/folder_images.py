"""Images that stay on disk: found by their paths, decoded when they are asked for."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from onward.errors import OnwardError
from onward.types import Rows

# What Pillow raises for bytes that are no image, a file that ends too early, a broken header, or
# a picture of absurd size.
UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)


@dataclass(frozen=True, eq=False)
class FolderImages:
    """A wide column of image files, each decoded to a square of RGB bytes when it is indexed.

    Parameters
    ----------
    root
        The folder that the paths begin in.
    paths
        One file per row.
    size
        Side of the square: the shorter edge is resized to it, then the centre is cut out, as the
        released code of CLEAR does (its supplement says "longer edge").
    noise
        Random images in place of some rows: checks put them where a future must not matter.
    """

    root: Path
    paths: Sequence[str]
    size: int
    noise: NDArray[np.uint8] | None = None
    noised: Rows | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one image."""
        return (len(self.paths), self.size, self.size, 3)

    def __getitem__(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the images of these rows as RGB bytes."""
        return self.crop(rows, None)

    def crop(self, rows: Rows, at: NDArray[np.float64] | None) -> NDArray[np.uint8]:
        """Return the images of these rows, cropped at these shares of their longer edges.

        Parameters
        ----------
        rows
            Which images.
        at
            One number per row, from 0 for the left or top end up to 1; ``None`` is the centre.
        """
        images = np.empty((len(rows), *self.shape[1:]), np.uint8)
        for place, row in enumerate(rows.tolist()):
            if self.noise is not None and self.noised is not None and self.noised[row] >= 0:
                images[place] = self.noise[self.noised[row]]
            else:
                share = None if at is None else float(at[place])
                images[place] = self._picture(row, share)
        return images

    def _picture(self, row: int, at: float | None) -> NDArray[np.uint8]:
        return decode(self.root / self.paths[row], self.size, at)

    def with_noise(self, rows: Rows, rng: np.random.Generator, images: int = 16) -> "FolderImages":
        """Return this column with random pixels in these rows."""
        noise = rng.integers(0, 256, (images, *self.shape[1:]), np.uint8)
        noised = np.full(len(self.paths), -1)
        noised[rows] = rng.integers(0, images, len(rows))
        return replace(self, noise=noise, noised=noised)


def decode(path: Path, size: int, at: float | None = None) -> NDArray[np.uint8]:
    """Read one image: shorter edge to `size`, then the square in its centre, or at a share.

    Orientation flags are not applied: the released code does not either.
    """
    try:
        with Image.open(path) as file:
            image = file.convert("RGB")
    except UNREADABLE as error:
        raise OnwardError(
            f"expected an image in {path}, found a file that cannot be decoded ({error}). Fetch "
            "it again from the download"
        ) from error
    return square(image, size, at)


def square(image: Image.Image, size: int, at: float | None = None) -> NDArray[np.uint8]:
    """Resize the shorter edge to `size`, and cut the square in the centre out, or at a share."""
    width, height = image.size
    short = min(width, height)
    if short != size:
        # Rounded down as torchvision does, so that the crop takes the same pixels.
        width, height = (size if edge == short else int(size * edge / short) for edge in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    # At a share, all whole offsets are as likely as each other.
    left, top = (
        round(spare / 2) if at is None else min(int(at * (spare + 1)), spare)
        for spare in (width - size, height - size)
    )
    return np.asarray(image.crop((left, top, left + size, top + size)), np.uint8)


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
