"""Stochastic gradient descent with momentum."""

import torch

from onward.train.weight_mover import WeightMover


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
            if name in self._still:
                moving = slice(self._still[name], None)
                parameter, gradient, velocity = (
                    values[moving] for values in (parameter, gradient, velocity)
                )
            torch.add(gradient, velocity, alpha=self._momentum, out=velocity)
            if decay := self.decay_of(parameter):
                velocity.add_(parameter, alpha=decay)
            parameter.add_(velocity, alpha=-learning_rate)
