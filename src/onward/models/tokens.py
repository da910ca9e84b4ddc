"""Texts as the numbers that a text tower reads."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from onward.models.open_clip_loader import open_clip

# So many texts are remembered: captions come back in every epoch, and words take a while to split.
_MOST = 200_000
_BYTES_AND_ENDS = 514


class Tokens:
    """A tokenizer of open_clip's, which remembers what it has split."""

    def __init__(self, split: Callable[[list[str]], torch.Tensor]) -> None:
        self._split = split
        self._known: dict[str, torch.Tensor] = {}

    def __call__(self, texts: list[str]) -> torch.Tensor:
        """Return rows of numbers, one for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > _MOST:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._split(new), strict=True))
        return torch.stack([self._known[text] for text in texts])


def small_tokenizer(context: int, vocabulary: int) -> Any:
    """Return CLIP's tokenizer with so many numbers in a text, and so many different ones.

    Its merges are ordered by how common they are, and the first ones stay. It was made before any
    of the data here, so nothing in it looks ahead.
    """
    library = open_clip()
    first = _first_merges(Path(library.__file__).parent, vocabulary)
    return library.tokenizer.SimpleTokenizer(first, context_length=context)


def _first_merges(folder: Path, vocabulary: int) -> io.BytesIO:
    [source] = folder.glob("bpe_simple_vocab*.txt.gz")
    with gzip.open(source, "rt", encoding="utf-8") as file:
        # The first line is a title.
        lines = [next(file) for _ in range(1 + vocabulary - _BYTES_AND_ENDS)]
    return io.BytesIO(gzip.compress("".join(lines).rstrip("\n").encode()))
