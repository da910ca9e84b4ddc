"""Backbones: pre-trained encoders whose features take the place of images.

The paper's five are named here; their weights are not shipped: point at your own copy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from onward.benchmarks.progress import reading_images
from onward.data.cache import cache_folder
from onward.data.extracted import extracted
from onward.data.features import standardise
from onward.errors import OnwardError, unknown
from onward.files import file_digest
from onward.hardware import Hardware, preparation_hardware
from onward.types import Array, Benchmark, Column, Table

if TYPE_CHECKING:
    from torch import nn

# What stands in front of a layer's name in files of MoCo, of OpenSelfSup, and in converted ones.
_MOCO = ("module.encoder_q.", "encoder_q.", "backbone.", "module.", "")
_BYOL = (
    "backbone.",
    "module.online_network.encoder.",
    "online_network.encoder.",
    "online_encoder.net.",
    "module.encoder.",
    "encoder.",
    "module.",
    "",
)
_SUPERVISED = ("module.", "backbone.", "")
_PUBLISHED_SIZE = 224


@dataclass(frozen=True)
class BackboneCard:
    """A backbone by name: what it is, and the names of its layers in a file of weights."""

    summary: str
    prefixes: tuple[str, ...] = ()


BACKBONES: Mapping[str, BackboneCard] = {
    "moco": BackboneCard("what onward pretrain wrote: --weights is its folder"),
    "moco_b0": BackboneCard("ResNet-50, MoCo v2 on bucket 0 of YFCC100M", _MOCO),
    "moco_imagenet": BackboneCard("ResNet-50, MoCo v2 on ImageNet", _MOCO),
    "byol_imagenet": BackboneCard("ResNet-50, BYOL on ImageNet", _BYOL),
    "imagenet": BackboneCard("ResNet-50, supervised on ImageNet", _SUPERVISED),
    "clip": BackboneCard("CLIP's RN50, 1024 numbers of length 1; needs open_clip"),
}


@dataclass(frozen=True)
class Backbone:
    """A backbone with weights, in words: it can be sent to another process.

    Weights are a file, or for ``moco`` the folder that ``onward pretrain`` wrote. ``size`` is the
    side of the images that it reads, and ``key`` names network, weights and transform.
    """

    name: str
    weights: str
    size: int
    key: str

    def extract(self, images: Column, hardware: Hardware) -> Array:
        """Return the features of a column of images, out of the cache where it has them."""
        import torch

        from onward.models.device import resolve_device
        from onward.train.loading import computing_on, embed_parts

        device = resolve_device(hardware.device)
        # This is done once, by one process: it has all cores if nobody says how many.
        threads = hardware.threads if hardware.threads > 1 else torch.get_num_threads()
        network = _network(self.name, self.weights)[0].to(device)
        embed = partial(embed_parts, network=network, size=self.size, device=device)
        # Another kind of device rounds in other ways.
        key = self.key if device.type == "cpu" else f"{self.key}-{device.type}"
        with (
            computing_on(replace(hardware, threads=threads)),
            reading_images("features of images") as watch,
        ):
            return extracted(images, key, embed, watch)


def load_backbone(name: str, weights: str | None) -> Backbone:
    """Find a backbone, and require that its weights fit."""
    if name not in BACKBONES:
        raise unknown("backbone", name, BACKBONES, "onward list backbones")
    if weights is None:
        what = "the folder that onward pretrain wrote" if name == "moco" else "its file"
        raise OnwardError(
            f"expected the weights of the backbone {name}, found none. Give {what}: --weights"
        )
    _, size, digest = _network(name, weights)
    return Backbone(name, weights, size, f"{name}-{digest[:16]}-{size}")


def with_backbone(
    benchmark: Benchmark, backbone: Backbone, past: Callable[[Table], Array] | None = None
) -> Benchmark:
    """Return a benchmark whose inputs are the features that a backbone reads from its images.

    `past` says which rows are the unlabelled past, to put the features on its scale; by default
    they are left as they are, as in the paper.
    """
    if "image" not in benchmark.raw.wide:
        raise OnwardError("expected data with images for a backbone to read, found none")
    return replace(
        benchmark,
        prepare=partial(_prepare, backbone=backbone, past=past),
        options={**benchmark.options, "backbone": backbone.key},
        files=(*benchmark.files, Path(backbone.weights), cache_folder()),
    )


def _prepare(table: Table, *, backbone: Backbone, past: Callable[[Table], Array] | None) -> Table:
    features = backbone.extract(table.wide["image"], preparation_hardware())
    if past is not None:
        features = standardise(features, features[past(table)])
    return table.with_input(features)


def _network(name: str, weights: str) -> "tuple[nn.Module, int, str]":
    """Return what gives features of pixels, the side that it expects, and its weights' hash."""
    # Imported here: a stream is listed and described without the learning framework.
    from onward.models import encoder
    from onward.models.weights_folder import WEIGHTS

    path = Path(weights).expanduser()
    if name == "clip":
        return encoder.published_clip(path), _PUBLISHED_SIZE, file_digest(path)
    if name == "moco":
        network, size = encoder.pretrained_encoder(path)
        path /= WEIGHTS
    else:
        network = encoder.published_resnet50(path, BACKBONES[name].prefixes)
        size = _PUBLISHED_SIZE
    return encoder.ProbeFeatures(network, network.features), size, file_digest(path)
