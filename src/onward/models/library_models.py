"""Classifiers of timm and torchvision: ``timm:NAME`` and ``torchvision:NAME``."""

import difflib
import functools
import importlib
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import nn

from onward.errors import OnwardError
from onward.extras import need
from onward.models import ModelCard
from onward.models.classifier import Classifier, image_classifier
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision
from onward.models.weights import Weights

# What timm's functions raise if a size does not fit a model, or a file does not.
_TIMM_ERRORS = (TypeError, ValueError, AssertionError, RuntimeError, LookupError, AttributeError)
_LAST_LAYERS = ("fc", "classifier", "head", "heads")
# Models for images of one size: the argument that sets it, by how their names begin.
_SIZE_ARGUMENTS = {"vit_": "image_size", "maxvit_": "input_size"}
_DEFAULT_SIZE = 224
# Models with further outputs in training, and normalization of their own beside published weights.
_WITH_AUXILIARY_OUTPUTS = ("googlenet", "inception_v3")
_POSITIONS = "encoder.pos_embedding"


def timm() -> Any:
    """Return the module timm."""
    need("timm", "which has the models timm:NAME", "vision")
    torchvision()  # timm imports it
    return importlib.import_module("timm")


@functools.cache
def timm_card(name: str) -> ModelCard:
    """Return a model of timm, or say which names are close to this one."""
    library = timm()
    architecture, _, tag = name.partition(".")
    if not library.is_model(architecture):
        known, see = library.list_models(), f"timm.list_models('*{architecture[:6]}*')"
        raise _unknown("timm", name, architecture, known, see)
    tags = [one.partition(".")[2] for one in library.list_pretrained(f"{architecture}.*")]
    if tag and tag not in tags:
        raise OnwardError(
            f"expected weights of timm's {architecture} after the dot, one of {', '.join(tags)}; "
            f"found {tag}. The model alone is timm:{architecture}"
        )
    return _card("timm", name, has_weights=bool(tags))


@functools.cache
def torchvision_card(name: str) -> ModelCard:
    """Return a classifier of torchvision, or say which names are close to this one."""
    models = torchvision().models
    known = models.list_models(module=models)
    if name not in known:
        see = "torchvision.models.list_models(module=torchvision.models)"
        raise _unknown("torchvision", name, name, known, see)
    return _card("torchvision", name, has_weights=True)


def _unknown(library: str, name: str, model: str, known: Sequence[str], see: str) -> OnwardError:
    near = [f"{library}:{one}" for one in difflib.get_close_matches(model, known, n=3)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return OnwardError(f"unknown model '{library}:{name}'.{hint} See: {see}")


def _card(library: str, name: str, *, has_weights: bool) -> ModelCard:
    return ModelCard(
        f"{library}:{name}",
        f"onward.models.library_models:{library}_classifier",
        takes=("image_size", "weights"),
        of_imagenet=has_weights,
        fixed={"model": name},
        pretrained=f"{library}:{name}" if has_weights else None,
    )


def timm_classifier(
    *args: Any, model: str, image_size: int | None = None, **options: Any
) -> Classifier:
    """Make a classifier of images on a model of timm, with its initialization and normalization.

    A model with a fixed input size gets images resized to it; with `image_size`, it is built for
    that size (timm's ``img_size``). Other models get images as they are, or resized to it. Further
    arguments are those of `image_classifier`.
    """
    config: Any = timm().get_pretrained_cfg(model)
    fixed = config.input_size[-1] if config is not None and config.fixed_input_size else None
    return image_classifier(
        partial(_timm_backbone, model, image_size if fixed and image_size != fixed else None),
        *args,
        name=f"timm:{model}",
        scale=IMAGENET if config is None else (config.mean, config.std),
        image_size=image_size or fixed,
        convert=_timm_names,
        **options,
    )


def torchvision_classifier(
    *args: Any,
    model: str,
    name: str | None = None,
    image_size: int | None = None,
    **options: Any,
) -> Classifier:
    """Make a classifier of images on a model of torchvision, with its initialization.

    Vision Transformers and MaxViT read images of one size: images are resized to 224 pixels, or to
    `image_size`, for which the model is then built. Other models get images as they are, or resized
    to it. Further arguments are those of `image_classifier`.
    """
    argument = next((a for start, a in _SIZE_ARGUMENTS.items() if model.startswith(start)), None)
    size = image_size or (_DEFAULT_SIZE if argument else None)
    settings: dict[str, Any] = {}
    if argument is not None:
        settings[argument] = (size, size) if argument == "input_size" else size
    if model in _WITH_AUXILIARY_OUTPUTS:
        settings |= {"aux_logits": False, "init_weights": True}
        settings["transform_input"] = options.get("weights") is not None
    return image_classifier(
        partial(torchvision_backbone, model, settings),
        *args,
        name=name or f"torchvision:{model}",
        scale=IMAGENET,
        image_size=size,
        convert=_resized_positions,
        **options,
    )


def _timm_backbone(model: str, image_size: int | None) -> nn.Module:
    """Return a model of timm without its last layer, for images of this size."""
    settings = {} if image_size is None else {"img_size": image_size}
    try:
        made: nn.Module = timm().create_model(model, pretrained=False, num_classes=0, **settings)
    except _TIMM_ERRORS as error:
        if image_size is None:
            raise
        raise OnwardError(
            f"expected an image size that timm:{model} takes, found {image_size}: {error}. Leave "
            "it out for the model's own"
        ) from error
    return made


def torchvision_backbone(model: str, settings: dict[str, Any]) -> nn.Module:
    """Return a model of torchvision without its last layer."""
    try:
        network: nn.Module = torchvision().models.get_model(model, weights=None, **settings)
    except (ValueError, AssertionError, RuntimeError) as error:
        if not settings:
            raise
        raise OnwardError(
            f"expected options that torchvision:{model} takes, found {settings}: {error}. Choose "
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


def _timm_names(weights: Weights, backbone: nn.Module) -> Weights:
    """Return weights under timm's names, positional embeddings resized to the model's grid.

    That is what timm itself does with a published file, by a function beside the model's class.
    """
    module = sys.modules[type(backbone).__module__]
    convert = getattr(module, "checkpoint_filter_fn", None)
    try:
        return weights if convert is None else dict(convert(dict(weights), backbone))
    except _TIMM_ERRORS as error:
        raise OnwardError(
            f"expected weights of timm's {type(backbone).__name__}, found others: {error}. Are "
            "they another model's?"
        ) from error


def _resized_positions(weights: Weights, backbone: nn.Module) -> Weights:
    """Return weights with positional embeddings resized to the grid of a Vision Transformer."""
    net: Any = backbone
    grid = dict(net.named_parameters()).get(_POSITIONS)
    if grid is None or _POSITIONS not in weights or weights[_POSITIONS].shape == grid.shape:
        return weights
    resize: Any = torchvision().models.vision_transformer.interpolate_embeddings
    try:
        return dict(resize(net.image_size, net.patch_size, dict(weights)))
    except ValueError as error:
        raise OnwardError(
            f"expected positional embeddings of torchvision's Vision Transformer, found {error}"
        ) from error
