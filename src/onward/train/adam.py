"""Adam, with weight decay of its own."""

from typing import Any

import torch

from onward.train.weight_mover import WeightMover

_STEPS, _FIRST, _SECOND = "steps", "first.", "second."


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
            moving = slice(self._still.get(name, 0), None) if parameter.ndim else ...
            first, second = (self.velocity[moment + name][moving] for moment in self.MOMENTS)
            weights, gradient = parameter[moving], gradient[moving]
            first.lerp_(gradient, 1 - self._momentum)
            second.mul_(self._fade).addcmul_(gradient, gradient, value=1 - self._fade)
            if decay := self.decay_of(parameter):
                weights.mul_(1 - learning_rate * decay)
            spread = (second / second_whole).sqrt_().add_(self._least)
            weights.addcdiv_(first, spread, value=-learning_rate / first_whole)
