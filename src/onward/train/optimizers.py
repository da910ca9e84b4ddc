"""How weights move along a gradient, by the recipe's word for it."""

from collections.abc import Mapping
from typing import Any

import torch

from onward.train.adam import Adam
from onward.train.recipe import Recipe
from onward.train.sgd import SGD
from onward.train.weight_mover import WeightMover


def optimizer(
    parameters: Mapping[str, torch.Tensor],
    recipe: Recipe,
    velocity: Mapping[str, torch.Tensor],
    still: Mapping[str, int],
) -> WeightMover:
    """Return what moves the weights.

    Parameters
    ----------
    parameters
        The weights by name; their gradients are in ``.grad``.
    recipe
        Names the optimiser and its numbers.
    velocity
        Where an interrupted descent had been.
    still
        By name, how many of a parameter's first rows do not move.
    """
    shared: dict[str, Any] = {
        "momentum": recipe.momentum,
        "weight_decay": recipe.weight_decay,
        "velocity": velocity,
        "still": still,
        "decays_all": recipe.decays_all,
    }
    if recipe.optimizer == "sgd":
        return SGD(parameters, **shared)
    return Adam(parameters, fade=recipe.fade, least=recipe.least, **shared)


def clip(parameters: Mapping[str, torch.Tensor], most: float) -> None:
    """Shorten the gradient of all parameters together where it is longer than this."""
    gradients = [p.grad for p in parameters.values() if p.grad is not None]
    length = float(sum(gradient.square().sum() for gradient in gradients)) ** 0.5
    if length > most:
        for gradient in gradients:
            gradient.mul_(most / length)
