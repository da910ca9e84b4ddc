"""Stochastic gradient descent with momentum."""

from collections.abc import Mapping

import torch

from onward.train.weights import grown


class SGD:
    """The update of `torch.optim.SGD`, without the bookkeeping that costs more than a small step.

    v ← momentum · v + g + weight_decay · w;  w ← w − learning_rate · v

    Parameters
    ----------
    parameters
        The weights by name; their gradients are in ``.grad``.
    momentum
        How much of the last velocity stays.
    weight_decay
        The pull towards zero.
    velocity
        Where an interrupted descent had been.
    still
        By name, how many of a parameter's first rows do not move.
    """

    def __init__(
        self,
        parameters: Mapping[str, torch.Tensor],
        *,
        momentum: float,
        weight_decay: float,
        velocity: Mapping[str, torch.Tensor],
        still: Mapping[str, int] | None = None,
    ) -> None:
        self._parameters = parameters
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._still = still or {}
        self.velocity = dict(velocity)
        for name, parameter in parameters.items():
            before = velocity.get(name)
            if before is None or before.shape != parameter.shape:
                self.velocity[name] = grown(before, parameter)

    def step(self, learning_rate: float) -> None:
        """Move every weight once."""
        for name, parameter in self._parameters.items():
            gradient, velocity = parameter.grad, self.velocity[name]
            if gradient is None:
                continue
            if name in self._still:
                moving = slice(self._still[name], None)
                parameter, gradient, velocity = (
                    values[moving] for values in (parameter, gradient, velocity)
                )
            torch.add(gradient, velocity, alpha=self._momentum, out=velocity)
            if self._weight_decay:
                velocity.add_(parameter, alpha=self._weight_decay)
            parameter.add_(velocity, alpha=-learning_rate)
