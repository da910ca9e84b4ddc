"""Every model, small enough to try, with inputs and targets for it."""

from collections.abc import Mapping

import pytest
import torch

from onward.models import MODELS, Model
from onward.tasks.one_label import OneLabel

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


def backward(model: Model, inputs: torch.Tensor, targets: torch.Tensor) -> None:
    """Set the gradient of cross-entropy on a model in training mode."""
    model.train().zero_grad()
    OneLabel().loss(model(inputs), targets).backward()


def trained(name: str) -> Model:
    """Return a model after a few steps, so that its statistics are not the initial ones."""
    model = made(name)
    for seed in range(2):
        backward(model, inputs_for(name, seed=seed), targets_for())
        with torch.no_grad():
            for parameter in model.parameters():
                assert parameter.grad is not None
                parameter.add_(parameter.grad, alpha=-0.01)
    model.zero_grad()
    model.clear_graph()
    return model


def grad_copies(model: Model) -> dict[str, torch.Tensor]:
    """Return copies of the gradients that are set on a model's parameters."""
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def same(some: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    """Whether tensors have the same names and bits."""
    return some.keys() == others.keys() and all(torch.equal(some[n], others[n]) for n in some)
