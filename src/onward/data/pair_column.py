"""A wide column of pairs that lie in files: decoded when they are asked for, a few of them kept."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from onward.data.folder_images import (
    Transform,
    opened_image,
    rgb_bytes,
    shorter_edge_resized,
    square,
)
from onward.data.images import Noise
from onward.data.pair_files import PairFiles
from onward.pairs import HAS_IMAGE, HAS_TEXT, IMAGE, TEXT, as_bytes, cut_text, pair_type
from onward.types import Array, Rows

PAIR, ONLY_IMAGE, ONLY_TEXT = range(3)
CAPTION_BYTES = 512
"""What stays of a caption: CLIP reads 77 tokens, and TiC-YFCC has 500 letters at most."""
WINDOW = 256 << 20
MIXED = 8
_NOISES = 16
_MEND = (
    "Fetch it again; or let onward check data tic --root DIR --list FILE name all such samples, "
    "and leave them out with leave_out=FILE, which is recorded"
)


@dataclass(frozen=True, eq=False)
class PairColumn:
    """Rows are samples of files, whole or one side of them, or prompts.

    Parameters
    ----------
    files
        Where samples lie.
    sample
        The sample of each row; -1 - p is prompt p.
    part
        `PAIR`, `ONLY_IMAGE` or `ONLY_TEXT`.
    line
        Which line of the text; -1 is all of it, as one line.
    prompts
        Texts that lie in no file.
    side
        Of images: the shorter side is resized to it, then the centre is cut out, as open_clip does
        for evaluation.
    window
        How many bytes of decoded samples are kept for those who ask again.
    mixed
        How many files are read at the same time in an order of `shuffled`.
    noise
        Random pairs in place of some.
    """

    files: PairFiles
    sample: Rows
    part: NDArray[np.uint8]
    line: NDArray[np.int32]
    prompts: tuple[str, ...]
    side: int
    window: int = WINDOW
    mixed: int = MIXED
    noise: Noise | None = None

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of one pair."""
        longest = max((len(text.encode()) for text in self.prompts), default=0)
        return pair_type((self.side, self.side, 3), max(CAPTION_BYTES, longest))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows."""
        return (len(self.sample),)

    def __getitem__(self, rows: Rows) -> Array:
        """Return the pairs of these rows."""
        return self._window.take(np.asarray(rows), self._centred)

    def transformed(self, rows: Rows, transform: Transform, *, resize: bool) -> Array:
        """Return these pairs with each image made a square of this side by `transform`.

        With `resize`, it is given images whose shorter edge is resized, otherwise whole ones. None
        of them are kept: the next ones differ.
        """

        def made(image: Image.Image, place: int) -> Image.Image:
            if resize:
                image = shorter_edge_resized(image, self.side, Image.Resampling.BICUBIC)
            return transform(image, place)

        return self._made(np.asarray(rows), made)

    def shuffled(self, rows: Rows, rng: np.random.Generator) -> Rows:
        """Return the positions of rows in a random order that goes through each file about once.

        Files come in a random order, a few at a time; the samples of those are mixed.
        """
        names, place = np.unique(self.files.file_of(self.sample[rows]), return_inverse=True)
        together = rng.permutation(len(names))[place] // self.mixed
        return np.lexsort((rng.permutation(len(rows)), together))

    def with_noise(self, rows: Rows, rng: np.random.Generator) -> "PairColumn":
        """Return this column with random images and texts in these rows."""
        pairs = np.zeros(_NOISES, self.dtype)
        pairs[IMAGE] = rng.integers(0, 256, pairs[IMAGE].shape, np.uint8)
        letters = rng.integers(ord("a"), ord("z") + 1, (_NOISES, 24), np.uint8)
        pairs[TEXT] = [word.tobytes() for word in letters]
        return replace(self, noise=Noise.over(pairs, rows, len(self.sample), rng))

    @cached_property
    def _window(self) -> "Window":
        return Window(self.dtype, self.window, len(self.sample))

    def _centred(self, rows: Rows) -> Array:
        return self._made(rows, lambda image, _: square(image, self.side, Image.Resampling.BICUBIC))

    def _made(self, rows: Rows, transform: Transform) -> Array:
        """Decode these rows, and transform each image."""
        pairs = np.zeros(len(rows), self.dtype)
        pairs[HAS_IMAGE] = self.part[rows] != ONLY_TEXT
        pairs[HAS_TEXT] = self.part[rows] != ONLY_IMAGE
        for place, row in enumerate(rows.tolist()):
            seen, read = pairs[HAS_IMAGE][place], pairs[HAS_TEXT][place]
            if self.noise is not None and self.noise.shown[row] >= 0:
                random = self.noise.values[self.noise.shown[row]]
                pairs[IMAGE][place] = random[IMAGE] * seen
                pairs[TEXT][place] = random[TEXT] if read else b""
                continue
            sample = int(self.sample[row])
            if seen:
                where = partial(self.files.where, sample)
                with opened_image(self.files.image(sample), where, _MEND) as image:
                    pairs[IMAGE][place] = rgb_bytes(transform(image, place))
            if read:
                pairs[TEXT][place] = self._text(sample, int(self.line[row]))
        return pairs

    def _text(self, sample: int, line: int) -> bytes:
        if sample < 0:
            return cut_text(self.prompts[-1 - sample], self.dtype[TEXT].itemsize)
        text = self.files.text(sample)
        # To a model, several lines are several ways to say one thing: a caption is one.
        said = " ".join(text.split()) if line < 0 else captions_of(text)[line]
        return cut_text(said, CAPTION_BYTES)


def captions_of(text: str) -> list[str]:
    r"""Return the captions of a text with one on each line.

    Examples
    --------
    >>> captions_of("a fox\n\nan animal ")
    ['a fox', 'an animal']
    """
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


class Window:
    """The last samples that were asked for, up to a number of bytes, out of so many rows.

    Copies to other processes begin with none.
    """

    def __init__(self, kind: np.dtype[Any], most: int, rows: int) -> None:
        self._kind, self._most, self._rows = kind, most, rows
        self._slots = min(max(most // kind.itemsize, 0), rows)
        self._kept = np.empty((self._slots, kind.itemsize), np.uint8)
        self._slot: dict[int, int] = {}
        self._holds = np.full(self._slots, -1)
        self._next = 0

    def take(self, rows: Rows, make: Callable[[Rows], Array]) -> Array:
        """Return samples, of which those that are not here are made."""
        slots = np.array([self._slot.get(row, -1) for row in rows.tolist()], np.int64)
        here = slots >= 0
        if not here.any() and len(set(rows.tolist())) == len(rows):
            # A batch of images has tens of megabytes: what is all new is not copied.
            new = make(rows)
            self._keep(rows, as_bytes(new))
            return new
        found = np.empty(len(rows), self._kind)
        # Records are copied as bytes: field by field takes several times as long.
        as_rows = as_bytes(found)
        as_rows[here] = self._kept[slots[here]]
        if not here.all():
            gone, place = np.unique(rows[~here], return_inverse=True)
            made = as_bytes(make(gone))
            as_rows[~here] = made[place]
            self._keep(gone, made)
        return found

    def __reduce__(self) -> tuple[type["Window"], tuple[np.dtype[Any], int, int]]:
        return Window, (self._kind, self._most, self._rows)

    def _keep(self, rows: Rows, made: Array) -> None:
        last = slice(max(len(rows) - self._slots, 0), None)
        rows, made = rows[last], made[last]
        if not len(rows):
            return
        slots = (self._next + np.arange(len(rows))) % self._slots
        for row in self._holds[slots].tolist():
            self._slot.pop(row, None)
        self._kept[slots] = made
        self._holds[slots] = rows
        self._slot.update(zip(rows.tolist(), slots.tolist(), strict=True))
        self._next = int(slots[-1] + 1) % self._slots
