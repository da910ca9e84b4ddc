"""Models for the gradient learner: a hand-written catalogue, timm's, torchvision's, and your own.

To add one, write its file and its line here. A model is imported when it is made, so that knowing
what there is takes no learning framework.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from onward.catalogue import Catalogue
from onward.errors import unknown
from onward.stored import stored

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance

    from onward.models.model import Model

__all__ = ["MODELS", "MODEL_SOURCES", "Model", "ModelCard", "find_model", "stored_recipe"]


@dataclass(frozen=True)
class ModelCard:
    """A model, as it is found by its name.

    Parameters
    ----------
    name
        What it is called.
    place
        Where it is made, as ``module:name``: a class or function that is called with the shape of
        an input, the number of classes, a generator and ``head=``.
    reads
        What its inputs are; a module from a file reads the numbers or the images of its benchmark.
    gives
        What its outputs speak of.
    takes
        The numbers of a recipe that it takes as further arguments.
    of_imagenet
        Whether it was made for ImageNet's photos, and weights that have learned from them are
        published.
    fixed
        Further arguments that make it what it is.
    pretrained
        Whose published weights fit it: a name of timm's or torchvision's, ``timm:NAME`` or
        ``torchvision:NAME``.
    digest
        The hash of the file that it is from, if it is from one.
    """

    name: str
    place: str
    reads: Literal["numbers", "images", "numbers or images", "pairs"] = "images"
    gives: Literal["classes", "boxes", "directions"] = "classes"
    takes: tuple[str, ...] = ()
    of_imagenet: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    pretrained: str | None = None
    digest: str | None = None

    def __call__(
        self, shape: tuple[int, ...], classes: int, generator: "torch.Generator", **options: Any
    ) -> "Model":
        """Make it, with weights that the generator draws."""
        module, name = self.place.split(":")
        make = getattr(importlib.import_module(module), name)
        made: Model = make(shape, classes, generator, **self.fixed, **options)
        return made

    @property
    def summary(self) -> str:
        """What it reads and gives, in words."""
        return f"reads {self.reads}, gives {self.gives}"


_NETWORK = ("image_size", "weights")


def _card(name: str, place: str, **settings: Any) -> ModelCard:
    return ModelCard(name, f"onward.models.{place}", **settings)


def _imagenet(name: str, place: str, pretrained: str, /, **fixed: Any) -> ModelCard:
    return _card(name, place, takes=_NETWORK, of_imagenet=True, fixed=fixed, pretrained=pretrained)


def _resnet(depth: int) -> ModelCard:
    """Return a ResNet of torchvision: CLEAR trains 18 layers, IIRC trains 50 on ImageNet.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """
    name, place = f"resnet{depth}", "library_models:torchvision_classifier"
    return _imagenet(name, place, f"torchvision:{name}", model=name, name=f"ResNet-{depth}")


def _detector(name: str, kind: str) -> ModelCard:
    return _card(name, f"faster_rcnn:{kind}", gives="boxes", takes=_NETWORK)


def _clip(name: str) -> ModelCard:
    return _card(
        name,
        "clip:Clip",
        reads="pairs",
        gives="directions",
        takes=("weights", "grad_checkpointing"),
        fixed={"config": name},
    )


_CARDS = (
    _card("linear", "classifier:linear_probe", reads="numbers"),
    _card("mlp", "classifier:mlp", reads="numbers", takes=("hidden_dim",)),
    _card("convnet", "convnet:convnet", takes=_NETWORK),
    _resnet(18),
    _card("resnet32", "resnet32:resnet32", takes=_NETWORK),
    _resnet(50),
    _imagenet("resnet50d", "resnet50d:resnet50d", "timm:resnet50d"),
    _detector("faster_rcnn", "FasterRCNN"),
    _detector("faster_rcnn_swin", "FasterRCNNSwin"),
    _detector("small_rcnn", "SmallRCNN"),
    _detector("small_swin", "SmallSwin"),
    *map(_clip, ("clip_small", "clip_vit_b16", "clip_vit_b32")),
)

MODELS = Catalogue("model", {card.name: card for card in _CARDS}, "onward.models", ModelCard)
"""By name; a package adds one as a `ModelCard` by an entry point."""

MODEL_SOURCES: Mapping[str, str] = {
    "timm:NAME": "any model of timm without its last layer, see timm.list_models()",
    "torchvision:NAME": "any classifier of torchvision.models without its last layer",
    "path/to/file.py:Class": "a torch.nn.Module of yours that returns one row of features a sample",
}
"""Where models beside the catalogue's come from: how one is named, and what it is."""


def find_model(name: str) -> ModelCard:
    """Return the model of a name: of the catalogue, or of a form that `MODEL_SOURCES` has.

    Examples
    --------
    >>> find_model("linear").reads
    'numbers'
    >>> find_model("resnet19")
    Traceback (most recent call last):
    onward.errors.OnwardError: unknown model 'resnet19'. Did you mean 'resnet18'? See: onward list \
models
    """
    if name in MODELS:
        return MODELS[name]
    source, _, inner = name.partition(":")
    if _is_from_file(name):
        from onward.models.file_models import file_card

        return file_card(name)
    if not inner or source not in ("timm", "torchvision"):
        raise unknown("model", name, [*MODELS, *MODEL_SOURCES], "onward list models")
    from onward.models.library_models import timm_card, torchvision_card

    return timm_card(inner) if source == "timm" else torchvision_card(inner)


def stored_recipe(recipe: "DataclassInstance") -> dict[str, Any]:
    """Return a recipe as a spec stores it, see `onward.stored.stored`.

    A model from a file is stored as the names of the file and of the class, with a hash of the file
    beside them: an edited file makes another run, the same file in another folder does not.
    """
    found = stored(recipe)
    model = found.get("model")
    if isinstance(model, str) and _is_from_file(model):
        card = find_model(model)
        found |= {"model": card.name, "model_digest": card.digest}
    return found


def _is_from_file(name: str) -> bool:
    return name.endswith(".py") or name.rpartition(":")[0].endswith(".py")


def __getattr__(name: str) -> Any:
    if name == "Model":
        return importlib.import_module("onward.models.model").Model
    raise AttributeError(f"module 'onward.models' has no attribute {name!r}")
