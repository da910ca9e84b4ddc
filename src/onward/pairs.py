"""Samples of an image and a text: how they lie in memory, and how they are taken apart.

A wide column of pairs is a numpy array of records, so that whoever reads ``view.inputs()`` has
``["image"]`` and ``["text"]``. Models are given the same bytes as rows, which can be cut and joined
like any other inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.errors import OnwardError
from onward.table import Array

IMAGE, HAS_IMAGE, HAS_TEXT, TEXT = "image", "has_image", "has_text", "text"


def pair_type(image: tuple[int, int, int], text_bytes: int) -> np.dtype[Any]:
    """Return the type of a sample with an image of this shape and a text of so many bytes.

    Parameters
    ----------
    image
        Height, width and the 3 colours.
    text_bytes
        The most that a text may have in UTF-8. One with several lines is what they mean together:
        a model takes the mean of what it makes of each.

    Examples
    --------
    >>> pair_type((2, 2, 3), 10).itemsize
    24
    """
    return np.dtype(
        [
            (IMAGE, np.uint8, image),
            (HAS_IMAGE, np.uint8),
            (HAS_TEXT, np.uint8),
            (TEXT, f"S{text_bytes}"),
        ]
    )


def made_pairs(kind: np.dtype[Any], images: Array | None, texts: Sequence[str] | None) -> Array:
    """Return samples of these images and texts; of either there may be none.

    Examples
    --------
    >>> kind = pair_type((2, 2, 3), 10)
    >>> made_pairs(kind, None, ["a fox"])[["has_image", "has_text", "text"]].tolist()
    [(0, 1, b'a fox')]
    """
    count = len(images) if images is not None else len(texts or ())
    pairs = np.zeros(count, kind)
    if images is not None:
        pairs[IMAGE], pairs[HAS_IMAGE] = images, 1
    if texts is not None:
        pairs[TEXT] = [cut_text(text, kind[TEXT].itemsize) for text in texts]
        pairs[HAS_TEXT] = 1
    return pairs


def cut_text(text: str, most: int) -> bytes:
    """Return a text in UTF-8, cut between two letters where it is longer than this many bytes.

    Examples
    --------
    >>> cut_text("café au lait", 4), len(cut_text("café", 5))
    (b'caf', 5)
    """
    # A zero byte would end the text for numpy.
    whole = text.replace("\0", " ").encode("utf-8", errors="replace")
    return whole if len(whole) <= most else whole[:most].decode("utf-8", "ignore").encode()


def as_bytes(inputs: Array) -> Array:
    """Return records as rows of bytes, without a copy; all other arrays as they are."""
    if inputs.dtype.names is None:
        return inputs
    return inputs.view(np.uint8).reshape(len(inputs), inputs.dtype.itemsize)


@dataclass(frozen=True)
class PairLayout:
    """Where things lie in rows of bytes, arrays or tensors alike, given the shape of images."""

    image: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.image) != 3 or self.image[2] != 3:
            raise OnwardError(
                "expected pairs of an image (height, width, 3 colours) and a text, found inputs "
                f"of the shape {self.image}"
            )

    @property
    def pixels(self) -> int:
        """How many bytes an image has."""
        return int(np.prod(self.image))

    def images(self, rows: Any) -> Any:
        """Return the images (n, height, width, 3)."""
        return rows[:, : self.pixels].reshape(-1, *self.image)

    def has_image(self, rows: Any) -> Any:
        """Return 1 for a sample with an image, else 0."""
        return rows[:, self.pixels]

    def has_text(self, rows: Any) -> Any:
        """Return 1 for a sample with a text, else 0."""
        return rows[:, self.pixels + 1]

    def texts(self, rows: Any) -> list[str]:
        """Return the texts; what is no UTF-8 is replaced."""
        part = rows[:, self.pixels + 2 :]  # of rows on a device, nothing else is copied back
        raw = np.ascontiguousarray(part.cpu() if hasattr(part, "cpu") else np.asarray(part))
        return [row.tobytes().rstrip(b"\0").decode("utf-8", "replace") for row in raw]
