"""Adam, with weight decay of its own."""

from collections.abc import Mapping

import torch

from onward.train.weights import grown

# How the squares of gradients fade, and what keeps a division from exploding: the usual values.
_FADE, _LEAST = 0.999, 1e-8
_STEPS, _FIRST, _SECOND = "steps", "first.", "second."


class Adam:
    """The update of `torch.optim.AdamW`; a parameter without a gradient stays as it is.

    m ← β m + (1 - β) g;  s ← 0.999 s + 0.001 g²;
    w ← (1 - rate · weight_decay) w - rate · m' / (√s' + 1e-8), both corrected for their zero start.

    Parameters
    ----------
    parameters
        The weights by name; their gradients are in ``.grad``.
    momentum
        β.
    weight_decay
        The pull towards zero.
    velocity
        Where an interrupted descent had been.
    still
        By name, how many of a parameter's first rows do not move.

    References
    ----------
    Kingma and Ba, Adam, ICLR 2015; Loshchilov and Hutter, Decoupled Weight Decay Regularization,
    ICLR 2019.
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
        self.velocity = {_STEPS: torch.zeros(()), **velocity}
        for name, parameter in parameters.items():
            for moment in (_FIRST, _SECOND):
                self._make_room(moment + name, parameter)

    def step(self, learning_rate: float) -> None:
        """Move every weight once."""
        self.velocity[_STEPS] += 1
        steps = float(self.velocity[_STEPS])
        first_whole, second_whole = 1 - self._momentum**steps, 1 - _FADE**steps
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            moving = slice(self._still.get(name, 0), None) if parameter.ndim else ...
            first, second = (self.velocity[moment + name][moving] for moment in (_FIRST, _SECOND))
            weights, gradient = parameter[moving], gradient[moving]
            first.lerp_(gradient, 1 - self._momentum)
            second.mul_(_FADE).addcmul_(gradient, gradient, value=1 - _FADE)
            if self._weight_decay:
                weights.mul_(1 - learning_rate * self._weight_decay)
            spread = (second / second_whole).sqrt_().add_(_LEAST)
            weights.addcdiv_(first, spread, value=-learning_rate / first_whole)

    def _make_room(self, name: str, parameter: torch.Tensor) -> None:
        """Give a parameter a moment, or a larger one if it has grown since."""
        before = self.velocity.get(name)
        if before is None or before.shape != parameter.shape:
            self.velocity[name] = grown(before, parameter)
