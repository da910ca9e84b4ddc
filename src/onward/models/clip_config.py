"""What a CLIP is made of: its architecture and its tokenizer."""

import contextlib
import copy
import functools
import gzip
import importlib
import io
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from onward.extras import need
from onward.models.torchvision_loader import torchvision


def open_clip() -> Any:
    """Return the module open_clip."""
    need("open_clip", "which has the models of images and texts", "clip")
    torchvision()
    return importlib.import_module("open_clip")


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Leave out what open_clip says of random weights: they are wanted, or replaced at once."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


# How many texts are cached: captions come back in every epoch, and tokenizing takes a while.
_CACHED = 200_000
# Bytes, bytes at the end of a word, and the two tokens around a text.
_BASE_TOKENS = 514


Tokenizer = Callable[[list[str]], torch.Tensor]
"""Returns one row of tokens per text."""


def _with_cache(tokenize: Tokenizer) -> Tokenizer:
    tokens_of = functools.lru_cache(_CACHED)(lambda text: tokenize([text])[0])
    return lambda texts: torch.stack([tokens_of(text) for text in texts])


def _small_tokenizer(context: int, vocabulary: int) -> Any:
    """Return CLIP's tokenizer with this context length, and its first merges alone.

    Merges are ordered by how common they are. CLIP's tokenizer was made before any of the data
    here, so nothing in it looks ahead.
    """
    library = open_clip()
    [source] = Path(library.__file__).parent.glob("bpe_simple_vocab*.txt.gz")
    with gzip.open(source, "rt", encoding="utf-8") as file:
        # The first line is a title.
        lines = [next(file) for _ in range(1 + vocabulary - _BASE_TOKENS)]
    merges = io.BytesIO(gzip.compress("".join(lines).rstrip("\n").encode()))
    return library.tokenizer.SimpleTokenizer(merges, context_length=context)


@dataclass(frozen=True)
class ClipConfig:
    """What a CLIP is made of: a configuration of open_clip, by name or written out.

    ``settings`` are further arguments of open_clip's ``create_model``, where it has a name.
    """

    name: str
    written_out: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def made(self) -> Any:
        """Return a new model with weights of open_clip's own drawing."""
        library = open_clip()
        if self.written_out is not None:
            return library.model.CLIP(**copy.deepcopy(dict(self.written_out)))
        # Texts of some are read by a model of another library, whose own weights are not wanted.
        with quietly():
            return library.create_model(self.name, pretrained_hf=False, **self.settings)

    def tokenizer(self) -> Tokenizer:
        """Return its tokenizer."""
        if self.written_out is None:
            return _with_cache(open_clip().get_tokenizer(self.name))
        text = self.written_out["text_cfg"]
        return _with_cache(_small_tokenizer(text["context_length"], text["vocab_size"]))


_SMALL_TEXT = {"context_length": 24, "vocab_size": 8192, "width": 48, "heads": 2, "layers": 1}
# Of 32 pixels and 24 tokens: learns enough of 1,200 drawings in a quarter of a minute to tell
# methods apart. Convolutions would take twice the time here.
SMALL = ClipConfig(
    "small",
    {
        "embed_dim": 128,
        "vision_cfg": {
            "image_size": 32,
            "patch_size": 8,
            "width": 64,
            "layers": 2,
            "head_width": 32,
            "mlp_ratio": 2,
        },
        "text_cfg": _SMALL_TEXT,
    },
)

CONFIGS: Mapping[str, ClipConfig] = {
    "clip_small": SMALL,
    "clip_vit_b16": ClipConfig("ViT-B-16"),
    "clip_vit_b32": ClipConfig("ViT-B-32"),
}
"""By the names of our models."""
