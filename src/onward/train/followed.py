"""What a linear probe says about samples that stay the same while it learns."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onward.train.recipe import Recipe
from onward.train.sgd import SGD
from onward.train.weights import to_arrays, to_tensors

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models.linear import LinearProbe


class Followed:
    """Outputs for the same samples, step after step, without asking the probe again.

    A probe's outputs are linear in its weights, and a step of SGD is linear in weights, velocity
    and gradient. So outputs move by the very rule of the weights, with the gradient's image in
    place of the gradient: what a probe would say whose weights were the gradient.

    Parameters
    ----------
    recipe
        How the weights move.
    outputs
        What the probe says now.
    velocity
        How fast that has been changing.
    """

    def __init__(
        self, recipe: Recipe, outputs: "Tensor", velocity: "Mapping[str, Tensor] | None" = None
    ) -> None:
        self.outputs = outputs
        self._sgd = SGD(
            {"outputs": outputs},
            momentum=recipe.momentum,
            weight_decay=recipe.weight_decay,
            velocity=velocity or {},
        )

    @staticmethod
    def image(probe: "LinearProbe", gradient: "Mapping[str, Tensor]", inputs: "Tensor") -> "Tensor":
        """Return how the outputs change along a gradient."""
        return probe.frozen(gradient, probe.classes).predict(inputs)

    def move(self, image: "Tensor", rate: float) -> None:
        """Follow a step of the weights."""
        self.outputs.grad = image
        self._sgd.step(rate)

    def state(self) -> dict[str, Any]:
        """Return where it is."""
        return to_arrays({"outputs": self.outputs, "velocity": self._sgd.velocity["outputs"]})

    @staticmethod
    def restored(recipe: Recipe, state: dict[str, Any]) -> "Followed":
        """Go on from there."""
        found = to_tensors(state)
        return Followed(recipe, found["outputs"], {"outputs": found["velocity"]})
