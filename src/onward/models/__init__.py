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

if TYPE_CHECKING:
    import torch

    from onward.models.model import Model

__all__ = ["MODELS", "MODEL_SOURCES", "Model", "ModelCard", "find_model"]


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
_IMAGENET: Mapping[str, Any] = {"takes": _NETWORK, "of_imagenet": True}
_CLIP = ("weights", "grad_checkpointing")


def _resnet(depth: int) -> ModelCard:
    place = "onward.models.torchvision_resnet:resnet"
    name = f"resnet{depth}"
    return ModelCard(
        name, place, fixed={"depth": depth}, pretrained=f"torchvision:{name}", **_IMAGENET
    )


MODELS = Catalogue(
    "model",
    {
        card.name: card
        for card in (
            ModelCard("linear", "onward.models.classifier:linear_probe", reads="numbers"),
            ModelCard(
                "mlp", "onward.models.classifier:mlp", reads="numbers", takes=("hidden_dim",)
            ),
            ModelCard("convnet", "onward.models.convnet:convnet", takes=_NETWORK),
            _resnet(18),
            ModelCard("resnet32", "onward.models.resnet32:resnet32", takes=_NETWORK),
            _resnet(50),
            ModelCard(
                "resnet50d",
                "onward.models.resnet50d:resnet50d",
                pretrained="timm:resnet50d",
                **_IMAGENET,
            ),
            *(
                ModelCard(name, f"onward.models.{place}", gives="boxes", takes=_NETWORK)
                for name, place in {
                    "faster_rcnn": "torchvision_detectors:FasterRCNN",
                    "faster_rcnn_swin": "torchvision_detectors:FasterRCNNSwin",
                    "small_rcnn": "small_detectors:SmallRCNN",
                    "small_swin": "small_detectors:SmallSwin",
                }.items()
            ),
            *(
                ModelCard(
                    name,
                    "onward.models.clip:Clip",
                    reads="pairs",
                    gives="directions",
                    takes=_CLIP,
                    fixed={"config": name},
                )
                for name in ("clip_small", "clip_vit_b16", "clip_vit_b32")
            ),
        )
    },
    "onward.models",
    ModelCard,
)
"""By name; a package adds one as a `ModelCard` by an entry point."""

MODEL_SOURCES: Mapping[str, str] = {
    "timm:NAME": "any model of timm without its last layer, see timm.list_models()",
    "torchvision:NAME": "any classifier of torchvision.models without its last layer",
    "path/to/file.py:Class": "a torch.nn.Module of yours that returns one row of features a sample",
}
"""Where models beside the catalogue's come from: how one is named, and what it is."""

# Which functions make a card of what follows the colon.
_LIBRARIES = {
    "timm": "onward.models.timm_models",
    "torchvision": "onward.models.torchvision_models",
}


def find_model(name: str) -> ModelCard:
    """Return the model of a name: of the catalogue, of timm or torchvision, or from a file.

    Parameters
    ----------
    name
        A name of the catalogue, or one that has a form of `MODEL_SOURCES`.

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
    if is_of_file(name):
        place, inner = "onward.models.file_models", name
    elif inner and source in _LIBRARIES:
        place = _LIBRARIES[source]
    else:
        raise unknown("model", name, [*MODELS, *MODEL_SOURCES], "onward list models")
    found: ModelCard = importlib.import_module(place).card(inner)
    return found


def is_of_file(name: str) -> bool:
    """Whether a model's name has the form of one from a file.

    Examples
    --------
    >>> is_of_file("nets/small.py:Small"), is_of_file("timm:resnet50d")
    (True, False)
    """
    return name.endswith(".py") or name.rpartition(":")[0].endswith(".py")


def __getattr__(name: str) -> Any:
    if name == "Model":
        return importlib.import_module("onward.models.model").Model
    raise AttributeError(f"module 'onward.models' has no attribute {name!r}")
