"""A linear probe on standardised features that lie in memory."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from onward.data.features import scale_of, scaled
from onward.models.classifier import Classifier, linear_probe
from onward.saved import to_arrays, to_tensors
from onward.seeds import Draws, draws
from onward.train.optimizers import ModelOptimizer
from onward.train.recipe import Recipe
from onward.types import Array, Task

# CLEAR's linear layer, in the epochs that are enough for a few hundred samples.
RECIPE = Recipe(
    "linear", lr=1.0, momentum=0.9, weight_decay=0.0, batch_size=256, epochs=30, milestones=(0.6,)
)


def probe_cost(samples: int, width: int, classes: int) -> dict[str, int]:
    """Return the optimizer steps and the forward multiply-accumulates of training a probe."""
    steps = RECIPE.epochs * -(-samples // RECIPE.batch_size)
    return {"iterations": steps, "macs": RECIPE.epochs * samples * width * classes}


class Probe:
    """A linear classifier of features, each of which is scaled by its mean and deviation."""

    def __init__(self, classifier: Classifier, mean: Array, deviation: Array) -> None:
        self._classifier, self._mean, self._deviation = classifier, mean, deviation

    @classmethod
    def trained(
        cls,
        features: Array,
        labels: Array,
        classes: int,
        task: Task,
        key: tuple[int, ...],
        reference: Array,
    ) -> "Probe":
        """Train a probe from random weights; the key, a seed and a call, draws these and batches.

        The mean and the deviation that scale all features are those of the reference.
        """
        seed = int(draws(Draws.WEIGHTS, *key).integers(2**63))
        probe = linear_probe(features.shape[1:], classes, torch.Generator().manual_seed(seed))
        optimizer = ModelOptimizer(dict(probe.named_parameters()), RECIPE)
        mean, deviation = scale_of(reference)
        inputs, targets = torch.from_numpy(scaled(features, mean, deviation)), torch.tensor(labels)
        steps, done = probe_cost(len(features), 1, 1)["iterations"], 0
        for epoch in range(RECIPE.epochs):
            order = torch.from_numpy(draws(Draws.BATCHES, *key, epoch).permutation(len(features)))
            for start in range(0, len(order), RECIPE.batch_size):
                batch = order[start : start + RECIPE.batch_size]
                probe.zero_grad()
                with torch.enable_grad():
                    loss = task.loss(probe(inputs[batch]), targets[batch])
                loss.backward()
                optimizer.step(RECIPE.lr_at(done, steps))
                done += 1
        return cls(probe, mean, deviation)

    def predict(self, features: Array) -> Array:
        """Return one logit per class."""
        inputs = torch.from_numpy(scaled(features, self._mean, self._deviation))
        return np.asarray(self._classifier.predict(inputs).numpy())

    def state(self) -> dict[str, Any]:
        """Return what `restored` needs."""
        weights = to_arrays(self._classifier.head.state_dict())
        scale = {"mean": self._mean, "deviation": self._deviation}
        return {"classes": self._classifier.classes, "weights": weights, **scale}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Probe":
        """Return the probe whose state this is."""
        weights = to_tensors(state["weights"])
        shape = tuple(weights["weight"].shape[1:])
        classifier = linear_probe(shape, state["classes"], torch.Generator())
        classifier.head.load_state_dict(weights)
        return cls(classifier, state["mean"], state["deviation"])
