"""A linear probe on features that lie in memory."""

from collections.abc import Mapping

import torch

from onward.models.classifier import Classifier, linear_probe
from onward.seeds import Draws, draws
from onward.train.optimizers import make_optimizer
from onward.train.recipe import Recipe
from onward.types import Array, Task


def probe_steps(samples: int, recipe: Recipe) -> int:
    """Return how many steps training a probe takes."""
    return recipe.epochs * -(-samples // recipe.batch_size)


def probe_macs(samples: int, width: int, classes: int, recipe: Recipe) -> int:
    """Return the forward multiply-accumulates of training a probe."""
    return recipe.epochs * samples * width * classes


def probe_with(weights: Mapping[str, Array], classes: int) -> Classifier:
    """Return a probe with these weights."""
    probe = linear_probe(tuple(weights["weight"].shape[1:]), classes, torch.Generator())
    probe.head.load_state_dict({name: torch.tensor(values) for name, values in weights.items()})
    return probe


def train_probe(
    features: Array,
    labels: Array,
    classes: int,
    task: Task,
    recipe: Recipe,
    key: tuple[int, ...],
) -> Classifier:
    """Train a probe from random weights, which the key draws, and the batches: a seed and a call.

    The recipe's model is not asked for.
    """
    seed = int(draws(Draws.WEIGHTS, *key).integers(2**63))
    probe = linear_probe(features.shape[1:], classes, torch.Generator().manual_seed(seed))
    optimizer = make_optimizer(dict(probe.named_parameters()), recipe)
    steps, done = probe_steps(len(features), recipe), 0
    inputs, targets = torch.from_numpy(features), torch.tensor(labels)
    for epoch in range(recipe.epochs):
        order = torch.from_numpy(draws(Draws.BATCHES, *key, epoch).permutation(len(features)))
        for start in range(0, len(order), recipe.batch_size):
            batch = order[start : start + recipe.batch_size]
            probe.zero_grad()
            with torch.enable_grad():
                loss = task.loss(probe(inputs[batch]), targets[batch])
            loss.backward()
            for group in optimizer.param_groups:
                group["lr"] = recipe.lr_at(done, steps)
            optimizer.step()
            done += 1
    return probe
