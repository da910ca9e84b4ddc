"""Classifiers of torchvision: ``torchvision:NAME``."""

import difflib
import functools
from functools import partial
from typing import Any

import torch
from torch import nn

from onward.errors import OnwardError
from onward.models import ModelCard
from onward.models.checkpoints import Weights
from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision

_LAST_LAYERS = ("fc", "classifier", "head", "heads")
# Models for images of one size: the argument that sets it, by how their names begin.
_SIZED = {"vit_": "image_size", "maxvit_": "input_size"}
_SIZE = 224
# Models with further outputs in training, and normalization of their own beside published weights.
_WITH_AUXILIARY_OUTPUTS = ("googlenet", "inception_v3")
_GRID = "encoder.pos_embedding"


@functools.cache
def card(name: str) -> ModelCard:
    """Return a classifier of torchvision, or say which names are close to this one."""
    models = torchvision().models
    known = models.list_models(module=models)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f" Did you mean {' or '.join(f'torchvision:{one}' for one in near)}?" if near else ""
        raise OnwardError(
            f"unknown model 'torchvision:{name}'.{hint} See: "
            "torchvision.models.list_models(module=torchvision.models)"
        )
    own = f"torchvision:{name}"
    return ModelCard(
        own,
        "onward.models.torchvision_models:torchvision_classifier",
        takes=("image_size", "weights"),
        of_imagenet=True,
        fixed={"model": name},
        pretrained=own,
    )


def torchvision_classifier(
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    model: str,
    head: str = "linear",
    image_size: int | None = None,
    weights: str | None = None,
) -> Classifier:
    """Make a classifier of images on a model of torchvision, with its initialization.

    Vision Transformers and MaxViT read images of one size: images are resized to 224 pixels, or to
    `image_size`, for which the model is then built. Other models get images as they are, or resized
    to it.
    """
    sized = next((name for start, name in _SIZED.items() if model.startswith(start)), None)
    size = image_size or (_SIZE if sized else None)
    options: dict[str, Any] = {}
    if sized is not None:
        options[sized] = (size, size) if sized == "input_size" else size
    if model in _WITH_AUXILIARY_OUTPUTS:
        options |= {"aux_logits": False, "init_weights": True}
        options["transform_input"] = weights is not None
    return image_classifier(
        partial(torchvision_backbone, model, options),
        shape,
        classes,
        generator,
        name=f"torchvision:{model}",
        scale=IMAGENET,
        head=head,
        image_size=size,
        weights=weights,
        convert=_converted,
    )


def torchvision_backbone(model: str, options: dict[str, Any]) -> nn.Module:
    """Return a model of torchvision without its last layer."""
    try:
        network: nn.Module = torchvision().models.get_model(model, weights=None, **options)
    except (ValueError, AssertionError, RuntimeError) as error:
        if not options:
            raise
        raise OnwardError(
            f"expected options that torchvision:{model} takes, found {options}: {error}. Choose "
            "another image size, or leave it out"
        ) from error
    for name in _LAST_LAYERS:
        if hasattr(network, name):
            part = getattr(network, name)
            layers = [at for at, m in part.named_modules() if isinstance(m, nn.Linear | nn.Conv2d)]
            parent, _, last = f"{name}.{layers[-1]}".rstrip(".").rpartition(".")
            setattr(network.get_submodule(parent), last, nn.Identity())
            return network
    raise OnwardError(
        f"expected the last layer of torchvision:{model} as {', '.join(_LAST_LAYERS)}, found none. "
        "Choose another model"
    )


def _converted(weights: Weights, backbone: nn.Module) -> Weights:
    """Return weights with positional embeddings resized to the grid of a Vision Transformer."""
    grid = dict(backbone.named_parameters()).get(_GRID)
    if grid is None or _GRID not in weights or weights[_GRID].shape == grid.shape:
        return weights
    vision: Any = torchvision().models.vision_transformer
    net: Any = backbone
    try:
        found: Weights = dict(
            vision.interpolate_embeddings(net.image_size, net.patch_size, dict(weights))
        )
    except ValueError as error:
        raise OnwardError(
            f"expected positional embeddings of torchvision's Vision Transformer, found {error}"
        ) from error
    return found
