"""Models of timm: ``timm:NAME``."""

import difflib
import functools
import importlib
import sys
from functools import partial
from typing import Any

import torch
from torch import nn

from onward.errors import OnwardError
from onward.extras import need
from onward.models import ModelCard
from onward.models.checkpoints import Weights
from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision

# What timm's functions raise if a size does not fit a model, or a file does not.
_REFUSALS = (TypeError, ValueError, AssertionError, RuntimeError, LookupError, AttributeError)


def timm() -> Any:
    """Return the module timm."""
    need("timm", "which has the models timm:NAME", "vision")
    torchvision()  # timm imports it
    return importlib.import_module("timm")


@functools.cache
def card(name: str) -> ModelCard:
    """Return a model of timm, or say which names are close to this one."""
    library = timm()
    architecture, _, tag = name.partition(".")
    if not library.is_model(architecture):
        near = difflib.get_close_matches(architecture, library.list_models(), n=3)
        hint = f" Did you mean {' or '.join(f'timm:{one}' for one in near)}?" if near else ""
        raise OnwardError(
            f"unknown model 'timm:{name}'.{hint} See: timm.list_models('*{architecture[:6]}*')"
        )
    tags = [one.partition(".")[2] for one in library.list_pretrained(f"{architecture}.*")]
    if tag and tag not in tags:
        raise OnwardError(
            f"expected weights of timm's {architecture} after the dot, one of {', '.join(tags)}; "
            f"found {tag}. The model alone is timm:{architecture}"
        )
    own = f"timm:{name}"
    return ModelCard(
        own,
        "onward.models.timm_models:timm_classifier",
        takes=("image_size", "weights"),
        of_imagenet=bool(tags),
        fixed={"model": name},
        pretrained=own if tags else None,
    )


def timm_classifier(
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    model: str,
    head: str = "linear",
    image_size: int | None = None,
    weights: str | None = None,
) -> Classifier:
    """Make a classifier of images on a model of timm, with its initialization and normalization.

    A model with a fixed input size gets images resized to it; with `image_size`, it is built for
    that size (timm's ``img_size``). Other models get images as they are, or resized to it.
    """
    config: Any = timm().get_pretrained_cfg(model)
    fixed = config.input_size[-1] if config is not None and config.fixed_input_size else None
    return image_classifier(
        partial(timm_backbone, model, image_size if fixed and image_size != fixed else None),
        shape,
        classes,
        generator,
        name=f"timm:{model}",
        scale=IMAGENET if config is None else (config.mean, config.std),
        head=head,
        image_size=image_size or fixed,
        weights=weights,
        convert=converted,
    )


def timm_backbone(model: str, image_size: int | None) -> nn.Module:
    """Return a model of timm without its last layer, for images of this size."""
    options = {} if image_size is None else {"img_size": image_size}
    try:
        made: nn.Module = timm().create_model(model, pretrained=False, num_classes=0, **options)
    except _REFUSALS as error:
        if image_size is None:
            raise
        raise OnwardError(
            f"expected an image size that timm:{model} takes, found {image_size}: {error}. Leave "
            "it out for the model's own"
        ) from error
    return made


def converted(weights: Weights, backbone: nn.Module) -> Weights:
    """Return weights under timm's names, positional embeddings resized to the model's grid.

    That is what timm itself does with a published file, by a function beside the model's class.
    """
    module = sys.modules[type(backbone).__module__]
    convert = getattr(module, "checkpoint_filter_fn", None)
    if convert is None:
        return weights
    try:
        found: Weights = dict(convert(dict(weights), backbone))
    except _REFUSALS as error:
        raise OnwardError(
            f"expected weights of timm's {type(backbone).__name__}, found others: {error}. Are "
            "they another model's?"
        ) from error
    return found
