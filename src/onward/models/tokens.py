"""Texts as the numbers that a text tower reads."""

import gzip
import io
from pathlib import Path
from typing import Any

import torch

from onward.models.open_clip_loader import open_clip

# So many texts are remembered: captions come back in every epoch, and words take a while to split.
_MOST = 200_000
_BYTES_AND_ENDS = 514


class Tokens:
    """open_clip's tokenizer, which remembers what it has split.

    Parameters
    ----------
    name
        A model of open_clip, whose tokenizer it is; None is the tokenizer of CLIP.
    context
        How many numbers a text has; a longer one is cut.
    vocabulary
        How many numbers there are, where a small model has fewer: the merges of CLIP's tokenizer
        are ordered by how common they are, and the first ones stay. It was made before any of the
        data here, so nothing in it looks ahead.
    """

    def __init__(
        self, name: str | None, context: int | None = None, vocabulary: int | None = None
    ) -> None:
        library = open_clip()
        if name is not None:
            self._split: Any = library.get_tokenizer(name, context_length=context)
        elif vocabulary is None:
            self._split = library.tokenizer.SimpleTokenizer(context_length=context)
        else:
            first = _first_merges(Path(library.__file__).parent, vocabulary)
            self._split = library.tokenizer.SimpleTokenizer(first, context_length=context)
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


def _first_merges(folder: Path, vocabulary: int) -> io.BytesIO:
    [source] = folder.glob("bpe_simple_vocab*.txt.gz")
    with gzip.open(source, "rt", encoding="utf-8") as file:
        # The first line is a title.
        lines = [next(file) for _ in range(1 + vocabulary - _BYTES_AND_ENDS)]
    return io.BytesIO(gzip.compress("".join(lines).rstrip("\n").encode()))
