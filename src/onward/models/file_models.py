"""Modules of a user: ``path/to/file.py:Class``."""

import functools
import inspect
from functools import partial
from typing import Any

import torch
from torch import nn

from onward.errors import OnwardError
from onward.models import ModelCard
from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.python_files import FileClass, file_class

_INPUT_SHAPE = "input_shape"


def file_card(name: str) -> ModelCard:
    """Return a module of a file; the file is imported anew when its content has changed."""
    found = file_class(name, "--model")
    return ModelCard(
        f"{found.path.name}:{found.name}",
        "onward.models.file_models:file_classifier",
        reads="numbers or images",
        takes=("image_size", "weights"),
        fixed={"module": _module_class(found, found.digest), "name": name},
        digest=found.digest,
    )


@functools.lru_cache(maxsize=8)
def _module_class(found: FileClass, digest: str) -> type[nn.Module]:
    """Return a class from a file with this hash, and require that it can be made."""
    kind = found.load()
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        what = f"the class {kind.__name__}" if isinstance(kind, type) else type(kind).__name__
        raise OnwardError(
            f"expected a class derived from torch.nn.Module as {found.name} in {found.path}, found "
            f"{what}"
        )
    signature = inspect.signature(kind)
    try:
        signature.bind(**({_INPUT_SHAPE: ()} if _INPUT_SHAPE in signature.parameters else {}))
    except TypeError as error:
        raise OnwardError(
            f"expected {found.name} in {found.path} to be made without arguments, or with "
            f"input_shape alone; found {error}. Give its arguments default values"
        ) from error
    return kind


def file_classifier(
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    module: type[nn.Module],
    name: str,
    image_size: int | None = None,
    **options: Any,
) -> Classifier:
    """Make a classifier on a module of a user's.

    It reads features as rows of floats, or images as floats (n, 3, height, width), normalized by
    ImageNet's mean and deviation and resized to `image_size`.
    """
    if len(shape) != 1:
        size = shape[:2] if image_size is None else (image_size, image_size)
        options |= {"scale": IMAGENET, "image_size": image_size}
        backbone = partial(_backbone, module, (3, *size), name)
        return image_classifier(backbone, shape, classes, generator, name=name, **options)
    if image_size is not None:
        raise OnwardError(
            f"expected images to resize to {image_size} pixels, found rows of {shape[0]} numbers. "
            "Leave image_size out, or choose images as inputs: features=image"
        )
    backbone = partial(_backbone, module, shape, name)
    return Classifier(backbone, shape, classes, generator, name=name, **options)


def _backbone(kind: type[nn.Module], shape: tuple[int, ...], name: str) -> nn.Module:
    taken = inspect.signature(kind).parameters
    made = kind(**({_INPUT_SHAPE: shape} if _INPUT_SHAPE in taken else {}))
    if any(nn.parameter.is_lazy(parameter) for parameter in made.parameters()):
        # Lazy layers draw their weights in the first forward pass: here, under the seed.
        with torch.no_grad():
            made.eval()(torch.zeros(1, *shape))
    if not any(True for _ in made.parameters()):
        raise OnwardError(
            f"expected parameters to train in {name}, found none. For a linear layer on the "
            "inputs, choose the model linear"
        )
    return made.train()
