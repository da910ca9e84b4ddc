"""A linear probe on features that lie in memory."""

from collections.abc import Mapping
from functools import partial

import torch

from onward.models.linear import LinearProbe
from onward.seeds import Draws, draws
from onward.train.backward import output_gradient
from onward.train.optimizers import optimizer
from onward.train.recipe import Recipe
from onward.types import Array, Task


def probe_steps(samples: int, recipe: Recipe) -> int:
    """Return how many steps training a probe takes."""
    return recipe.epochs * -(-samples // recipe.batch_size)


def probe_macs(samples: int, width: int, classes: int, recipe: Recipe) -> int:
    """Return the forward multiply-accumulates of training a probe."""
    return recipe.epochs * samples * width * classes


def probe_with(weights: Mapping[str, Array], classes: int) -> LinearProbe:
    """Return a probe with these weights."""
    kept = {name: torch.tensor(values) for name, values in weights.items()}
    shape = kept["weight"].shape[1:]
    return LinearProbe(tuple(shape), classes, torch.Generator()).frozen(kept, classes)


def train_probe(
    features: Array,
    labels: Array,
    classes: int,
    task: Task,
    recipe: Recipe,
    key: tuple[int, ...],
) -> LinearProbe:
    """Train a probe from random weights, which the key draws, and the batches: a seed and a call.

    The recipe's model is not asked for.
    """
    seed = int(draws(Draws.WEIGHTS, *key).integers(2**63))
    probe = LinearProbe(features.shape[1:], classes, torch.Generator().manual_seed(seed))
    descent = optimizer(probe.parameters, recipe, velocity={}, frozen_rows={})
    steps, done = probe_steps(len(features), recipe), 0
    inputs, targets = torch.from_numpy(features), torch.tensor(labels)
    for epoch in range(recipe.epochs):
        order = torch.from_numpy(draws(Draws.BATCHES, *key, epoch).permutation(len(features)))
        for start in range(0, len(order), recipe.batch_size):
            batch = order[start : start + recipe.batch_size]
            outputs = probe.forward(inputs[batch])
            probe.backward(output_gradient(outputs, partial(task.loss, targets=targets[batch])))
            descent.step(recipe.rate(done, steps))
            done += 1
    return probe
