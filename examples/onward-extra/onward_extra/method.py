"""A method: one class below `Method`, and its card."""

from typing import TYPE_CHECKING

from onward.budget import Budget
from onward.methods import MethodCard
from onward.train.method import Method
from onward.train.weights import copied, fitted_to
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class HalfBack(Method):
    """Finetune, and go half of the way back to the weights before.

    Parameters
    ----------
    share
        How much of what was learned is kept.
    """

    saved = ("_before",)

    def __init__(self, *, share: float = 0.5) -> None:
        self._share = share
        self._before: dict[str, Tensor] = {}

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Mix the weights with those before."""
        before = fitted_to(model, self._before) if self._before else copied(model)
        for name, parameter in model.named_parameters():
            weights = parameter.detach()
            weights.copy_(before[name].lerp(weights, self._share))
        self._before = copied(model)


CARD = MethodCard("half_back", HalfBack, "onward-extra")
