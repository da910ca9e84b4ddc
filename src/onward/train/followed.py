"""What a linear probe says about samples that stay the same while it learns."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from onward.saved import to_arrays, to_tensors
from onward.train.method import Batch
from onward.train.packed import Packed
from onward.train.recipe import Recipe
from onward.train.remembered import MOST, Remembered
from onward.train.weights import gradients

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models.linear import LinearProbe

# With any value of these, an update is linear in weights, optimizer state and gradient: they set
# its coefficients (momentum, weight decay, learning rate schedule), or which batches there are.
_ANY_VALUE = frozenset(
    (
        "model",
        "learning_rate",
        "momentum",
        "weight_decay",
        "batch_size",
        "epochs",
        "decay_at",
        "decay",
        "memory",
        "first_epochs",
        "patience",
        "threshold",
        "per_class",
        "iterations",
        "replacement",
        "schedule",
        "warmup",
        "later_warmup",
        "later_rate",
        "cooldown",
    )
)


def is_plain_sgd(recipe: Recipe) -> bool:
    """Return whether weights are updated by SGD with momentum and weight decay, and nothing else.

    Every setting outside the list above must have its default. A setting that is added to recipes
    later is therefore not plain SGD until it is added to the list.
    """
    others = (setting for setting in fields(recipe) if setting.name not in _ANY_VALUE)
    return recipe.optimizer == "sgd" and all(
        getattr(recipe, setting.name) == setting.default for setting in others
    )


class Followed:
    """Outputs for the same samples, step after step, without asking the probe again.

    A probe's outputs are linear in its weights, and a step of SGD is linear in weights, velocity
    and gradient. So outputs move by the very rule of the weights, with the gradient's image in
    place of the gradient: what a probe would say whose weights were the gradient.

    Outputs, images and what else has few columns stands here with a row per class: products with
    the samples are faster that way round.

    Parameters
    ----------
    recipe
        How the weights move; `is_plain_sgd` must be true of it.
    probe
        Whose outputs.
    samples
        The inputs that stay the same.
    new
        How many others the probe is trained on.
    """

    def __init__(self, recipe: Recipe, probe: "LinearProbe", samples: "Tensor", new: int) -> None:
        self._recipe = recipe
        # A batch's gradient is a sum of its samples, so its image is a sum of their inner products
        # with the others, which is far shorter than a pass over the others' features.
        self._products: Remembered | None = None
        # All products of two samples cost as much as so many steps without them.
        pays = recipe.epochs * probe.classes > 2 * recipe.batch_size
        if pays and new * len(samples) <= MOST:
            self._products = Remembered(new, len(samples))
        self._samples, self._features = (
            Packed(matrix, often=pays) for matrix in (samples, samples.t())
        )
        self._begin(probe.predict(samples).t().contiguous(), {})

    def image(self, batch: Batch, slope: "Tensor") -> "Tensor":
        """Return how the outputs change along the gradient of a batch with this slope."""
        if self._products is None:
            return self.image_of(gradients(batch.model))
        return (slope.t() @ self._products(batch, self._samples)).add_(slope.sum(0).unsqueeze(1))

    def image_of(self, gradient: "Mapping[str, Tensor]") -> "Tensor":
        """Return how the outputs change along a gradient of the probe's weights."""
        return self._samples(gradient["weight"]).add_(gradient["bias"].unsqueeze(1))

    def gradient(self, slope: "Tensor") -> "dict[str, Tensor]":
        """Return the gradient of the probe's weights for a slope at these samples."""
        return {"weight": self._features(slope.t()), "bias": slope.sum(0)}

    def move(self, image: "Tensor", rate: float) -> None:
        """Follow a step of the weights."""
        self.outputs.grad = image
        self._sgd.step(rate)

    def state(self) -> dict[str, Any]:
        """Return where it is."""
        return to_arrays({"outputs": self.outputs, "velocity": self._sgd.velocity["outputs"]})

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        found = to_tensors(state)
        self._begin(found["outputs"], {"outputs": found["velocity"]})

    def _begin(self, outputs: "Tensor", velocity: "dict[str, Tensor]") -> None:
        from onward.train.optimizers import SGD  # torch is loaded when it is needed

        self.outputs = outputs
        self._sgd = SGD(
            {"outputs": outputs},
            momentum=self._recipe.momentum,
            weight_decay=self._recipe.weight_decay,
            velocity=velocity,
        )
