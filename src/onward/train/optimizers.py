"""How weights move along a gradient: two optimisers, by the recipe's word for them."""

from collections.abc import Mapping
from typing import Any

import torch

from onward.train.recipe import Recipe
from onward.train.weights import grown

_STEPS, _FIRST, _SECOND = "steps", "first.", "second."


class WeightMover:
    """Abstract: weights by name, and what is remembered from one step to the next.

    Parameters
    ----------
    parameters
        The weights by name; their gradients are in ``.grad``.
    momentum
        How much of the last velocity stays.
    weight_decay
        The pull towards zero.
    velocity
        Where an interrupted descent had been; of a parameter that has grown since, the rest is
        zero.
    frozen_rows
        By name, how many of a parameter's first rows do not move.
    decays_all
        Whether numbers and vectors, such as biases, are pulled towards zero too, or matrices alone.
    """

    # What is remembered of each parameter, by what stands before its name.
    MOMENTS: tuple[str, ...]

    def __init__(
        self,
        parameters: Mapping[str, torch.Tensor],
        *,
        momentum: float,
        weight_decay: float,
        velocity: Mapping[str, torch.Tensor],
        frozen_rows: Mapping[str, int] | None = None,
        decays_all: bool = True,
    ) -> None:
        self._parameters = parameters
        self._momentum = momentum
        self._weight_decay, self._decays_all = weight_decay, decays_all
        self._frozen_rows = frozen_rows or {}
        self.velocity = dict(velocity)
        for name, parameter in parameters.items():
            for moment in self.MOMENTS:
                before = velocity.get(moment + name)
                if before is None or before.shape != parameter.shape:
                    self.velocity[moment + name] = grown(before, parameter)
                else:  # what was read from a file comes to where the weights are
                    self.velocity[moment + name] = before.to(parameter.device)

    def decay_of(self, parameter: torch.Tensor) -> float:
        """Return the pull towards zero of one parameter."""
        return self._weight_decay if self._decays_all or parameter.ndim > 1 else 0.0

    def step(self, learning_rate: float) -> None:
        """Move every weight once."""
        raise NotImplementedError


class SGD(WeightMover):
    """The update of `torch.optim.SGD`, without the bookkeeping that costs more than a small step.

    v ← momentum · v + g + weight_decay · w;  w ← w − learning_rate · v
    """

    MOMENTS = ("",)

    def step(self, learning_rate: float) -> None:
        """Move every weight once."""
        for name, parameter in self._parameters.items():
            gradient, velocity = parameter.grad, self.velocity[name]
            if gradient is None:
                continue
            if name in self._frozen_rows:
                moving = slice(self._frozen_rows[name], None)
                parameter, gradient, velocity = (
                    values[moving] for values in (parameter, gradient, velocity)
                )
            torch.add(gradient, velocity, alpha=self._momentum, out=velocity)
            if decay := self.decay_of(parameter):
                velocity.add_(parameter, alpha=decay)
            parameter.add_(velocity, alpha=-learning_rate)


class Adam(WeightMover):
    """The update of `torch.optim.AdamW`; a parameter without a gradient stays as it is.

    m ← β m + (1 - β) g;  s ← fade · s + (1 - fade) g²;
    w ← (1 - rate · weight_decay) w - rate · m' / (√s' + least), both corrected for their
    start at zero. β is the momentum.

    References
    ----------
    Kingma and Ba, Adam, ICLR 2015; Loshchilov and Hutter, Decoupled Weight Decay Regularization,
    ICLR 2019.
    """

    MOMENTS = (_FIRST, _SECOND)

    def __init__(
        self, *args: Any, fade: float = 0.999, least: float = 1e-8, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._fade, self._least = fade, least
        self.velocity.setdefault(_STEPS, torch.zeros(()))

    def step(self, learning_rate: float) -> None:
        """Move every weight once."""
        self.velocity[_STEPS] += 1
        steps = float(self.velocity[_STEPS])
        first_whole, second_whole = 1 - self._momentum**steps, 1 - self._fade**steps
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            moving = slice(self._frozen_rows.get(name, 0), None) if parameter.ndim else ...
            first, second = (self.velocity[moment + name][moving] for moment in self.MOMENTS)
            weights, gradient = parameter[moving], gradient[moving]
            first.lerp_(gradient, 1 - self._momentum)
            second.mul_(self._fade).addcmul_(gradient, gradient, value=1 - self._fade)
            if decay := self.decay_of(parameter):
                weights.mul_(1 - learning_rate * decay)
            spread = (second / second_whole).sqrt_().add_(self._least)
            weights.addcdiv_(first, spread, value=-learning_rate / first_whole)


def optimizer(
    parameters: Mapping[str, torch.Tensor],
    recipe: Recipe,
    velocity: Mapping[str, torch.Tensor],
    frozen_rows: Mapping[str, int],
) -> WeightMover:
    """Return what moves the weights: the recipe names it, and has its numbers."""
    shared: dict[str, Any] = {
        "momentum": recipe.momentum,
        "weight_decay": recipe.weight_decay,
        "velocity": velocity,
        "frozen_rows": frozen_rows,
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
