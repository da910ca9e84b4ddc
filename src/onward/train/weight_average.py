"""An exponential moving average of weights, to predict with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch.optim.swa_utils import get_ema_multi_avg_fn

from onward.models.model import Model, set_weights
from onward.train.weights import snapshot


class WeightAverage:
    """The average of a model's weights over optimizer steps; what is no float is the last value.

    Parameters
    ----------
    model
        Its weights are the first average.
    decay
        How much of the average each step keeps.
    state
        An earlier average to continue with; rows that the model has gained since are the model's.
    """

    def __init__(
        self, model: Model, decay: float, state: Mapping[str, torch.Tensor] | None = None
    ) -> None:
        self.weights = snapshot(model)
        self._update = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        for name, before in (state or {}).items():
            known = slice(len(before)) if before.ndim else ...
            self.weights[name][known] = before

    def update(self, model: Model) -> None:
        """Add the model's weights of now."""
        now = model.state_dict()
        floats = [name for name, values in self.weights.items() if values.is_floating_point()]
        self._update([self.weights[n] for n in floats], [now[n] for n in floats], 0)
        for name in self.weights.keys() - set(floats):
            self.weights[name].copy_(now[name])

    @contextmanager
    def applied(self, model: Model) -> Iterator[None]:
        """Give the model the averaged weights for as long as the context lasts."""
        last = snapshot(model)
        set_weights(model, self.weights)
        try:
            yield
        finally:
            set_weights(model, last)
