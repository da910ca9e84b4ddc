"""Every model, small enough to try, with inputs and targets for it."""

import pytest
import torch

from onward.models import MODELS, Model

SHAPES = {"linear": (7,), "mlp": (7,)}
PICTURE = (16, 16, 3)
CASES = (
    "linear",
    "linear-cosine",
    "mlp",
    "mlp-cosine",
    "resnet18",
    "resnet32",
    "resnet32-cosine",
    "convnet",
    pytest.param("resnet50", marks=pytest.mark.slow),
    pytest.param("resnet50d", marks=pytest.mark.slow),
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(name: str, classes: int = 3, seed: int = 0) -> Model:
    model, _, head = name.partition("-")
    shape = SHAPES.get(model, PICTURE)
    return MODELS[model](shape, classes, generator(seed), head=head or "linear")


def inputs_for(name: str, samples: int = 6, seed: int = 1) -> torch.Tensor:
    shape, rng = (samples, *SHAPES.get(name.partition("-")[0], PICTURE)), generator(seed)
    if name.startswith(("resnet", "convnet")):
        return torch.randint(0, 256, shape, dtype=torch.uint8, generator=rng)
    return torch.randn(shape, generator=rng)


def targets_for(samples: int = 6, classes: int = 3) -> torch.Tensor:
    return torch.arange(samples) % classes
