"""Loading open_clip, which needs a torchvision that can be imported."""

import contextlib
import importlib
import logging
from collections.abc import Iterator
from typing import Any

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
