"""Models for the gradient learner: a hand-written catalogue, one file each.

To add one, write its file and its line here. A model is imported when it is made, so that knowing
what there is takes no learning framework.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from onward.catalogue import Catalogue

if TYPE_CHECKING:
    import torch

    from onward.models.model import Model

__all__ = ["MODELS", "Model", "ModelCard"]


@dataclass(frozen=True)
class ModelCard:
    """A model of the catalogue.

    Parameters
    ----------
    name
        What it is called.
    place
        Where it is made, as ``module:name``: a class or function that is called with the shape of
        an input, the number of classes, a generator and ``head=``.
    reads
        What its inputs are.
    gives
        What its outputs speak of.
    takes
        The numbers of a recipe that it takes as further arguments.
    of_imagenet
        Whether it was made for ImageNet's photos, and weights that have learned from them are
        published.
    fixed
        Further arguments that make it what it is.
    """

    name: str
    place: str
    reads: Literal["numbers", "images", "pairs"] = "images"
    gives: Literal["classes", "boxes", "directions"] = "classes"
    takes: tuple[str, ...] = ()
    of_imagenet: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)

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
    return ModelCard(f"resnet{depth}", place, fixed={"depth": depth}, **_IMAGENET)


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
            ModelCard("resnet50d", "onward.models.resnet50d:resnet50d", **_IMAGENET),
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


def __getattr__(name: str) -> Any:
    if name == "Model":
        return importlib.import_module("onward.models.model").Model
    raise AttributeError(f"module 'onward.models' has no attribute {name!r}")
