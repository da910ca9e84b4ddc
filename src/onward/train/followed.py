"""What a linear probe says about samples that stay the same while it learns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from onward.train.method import Step
from onward.train.recipe import Recipe
from onward.train.weights import to_arrays, to_tensors

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models.linear import LinearProbe

_MOST_PRODUCTS = 2**26  # 256 MB


class Followed:
    """Outputs for the same samples, step after step, without asking the probe again.

    A probe's outputs are linear in its weights, and a step of SGD is linear in weights, velocity
    and gradient. So outputs move by the very rule of the weights, with the gradient's image in
    place of the gradient: what a probe would say whose weights were the gradient.

    Parameters
    ----------
    recipe
        How the weights move.
    probe
        Whose outputs.
    samples
        The inputs that stay the same.
    new
        How many others the probe is trained on.
    """

    def __init__(self, recipe: Recipe, probe: "LinearProbe", samples: "Tensor", new: int) -> None:
        self._recipe, self._probe, self._samples = recipe, probe, samples
        self._products: Products | None = None
        # All products of two samples cost as much as so many steps without them.
        pays = recipe.epochs * probe.classes > 2 * recipe.batch_size
        if pays and new * len(samples) <= _MOST_PRODUCTS:
            self._products = Products(new, samples)
        self._begin(probe.predict(samples).contiguous(), {})

    def look(self) -> None:
        """Let the probe's next `backward` be about these samples."""
        self._probe.seen = self._samples

    def image(self, step: Step, slope: "Tensor") -> "Tensor":
        """Return how the outputs change along the gradient of a batch with this slope."""
        if self._products is None:
            return self.image_of_gradient()
        products = self._products(step)
        return (slope.t() @ products).t() + slope.sum(0)

    def image_of_gradient(self) -> "Tensor":
        """Return how the outputs change along the gradient that is set on the probe."""
        probe = self._probe
        gradient = {name: p.grad for name, p in probe.parameters.items() if p.grad is not None}
        return probe.frozen(gradient, probe.classes).predict(self._samples)

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
        from onward.train.sgd import SGD  # torch is loaded when it is needed

        self.outputs = outputs
        self._sgd = SGD(
            {"outputs": outputs},
            momentum=self._recipe.momentum,
            weight_decay=self._recipe.weight_decay,
            velocity=velocity,
        )


class Products:
    """Inner products of new samples with others, computed when a new one is first met.

    A batch's gradient is a sum of its samples, so its image is a sum of these products, which is
    far shorter than a pass over the others' features.
    """

    def __init__(self, new: int, others: "Tensor") -> None:
        self._others = others
        self._values = others.new_empty(new, len(others))
        self._known = np.zeros(new, np.bool_)

    def __call__(self, step: Step) -> "Tensor":
        """Return the products of a batch's new samples: a row for each of them."""
        import torch  # loaded when it is needed

        positions = step.positions[: step.new]
        where = torch.from_numpy(positions)
        met = self._known[positions]
        if not met.all():
            first = torch.from_numpy(np.flatnonzero(~met))
            self._values[where[first]] = step.inputs[first] @ self._others.t()
            self._known[positions] = True
        return self._values.index_select(0, where)
