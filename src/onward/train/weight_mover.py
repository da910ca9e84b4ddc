"""What optimisers share: the weights that they move, and what they remember of each."""

from collections.abc import Mapping

import torch

from onward.train.weights import grown


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
    still
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
        still: Mapping[str, int] | None = None,
        decays_all: bool = True,
    ) -> None:
        self._parameters = parameters
        self._momentum = momentum
        self._weight_decay, self._decays_all = weight_decay, decays_all
        self._still = still or {}
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
