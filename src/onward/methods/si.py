"""Synaptic intelligence: weights that did the work are held back."""

from typing import TYPE_CHECKING

from onward.budget import Budget
from onward.train.method import Batch
from onward.train.quadratic_penalty import PenaltyMethod
from onward.train.weights import copied, detached, fitted_to, gradients
from onward.types import View

if TYPE_CHECKING:
    import torch

    from onward.models import Model


class SI(PenaltyMethod):
    """Finetune with a penalty on changes of weights, larger for those that lowered the loss.

    The loss gets λ Σ Ω · (w − w*)². Each weight's work is the sum over steps of −g · Δw, with the
    gradient g of the task loss alone; Ω grows by work / (total move² + epsilon) at each
    consolidation. Work below zero counts as none: no weight is pushed away from its anchor.
    Avalanche has λ/2, epsilon 1e-7, cuts Ω at 0.001, and puts the penalty into g.

    Why: As EWC it keeps no sample, and it needs no pass of its own: importance is gathered on the
    way.

    Known problems: Importance depends on the path that descending took. On many labels the
    published λ hardly holds anything back.

    Parameters
    ----------
    strength
        λ.
    epsilon
        Keeps Ω finite for weights that came back to where they were. CLEAR does not give it;
        published experiments have values from 1e-7 to 0.1.
    every
        After how many samples the anchor is set; by default after each call, or, where the recipe
        has one, after as many as its memory.

    References
    ----------
    Zenke, Poole and Ganguli, Continual Learning Through Synaptic Intelligence, ICML 2017. λ as in
    CLEAR.
    """

    step_state = ("_work", "_moved", "_before", "_gradients")
    saved = (*PenaltyMethod.saved, *step_state)

    def __init__(
        self, *, strength: float = 1e-4, epsilon: float = 1e-3, every: int | None = None
    ) -> None:
        super().__init__(strength, every)
        self._epsilon = epsilon
        # By parameter: work done and way moved since the anchor was set; weights and gradients of
        # the step under way.
        self._work: dict[str, torch.Tensor] = {}
        self._moved: dict[str, torch.Tensor] = {}
        self._before: dict[str, torch.Tensor] = {}
        self._gradients: dict[str, torch.Tensor] = {}

    def init_weights(self, model: "Model", generator: "torch.Generator") -> None:
        """Start from the last weights, with entries for those of new classes."""
        self._work, self._moved = fitted_to(model, self._work), fitted_to(model, self._moved)

    def on_after_backward(self, batch: Batch) -> None:
        """Record where this step begins, and add the gradient of the penalty."""
        self._account(batch.model)
        self._before = copied(batch.model)
        self._gradients = detached(gradients(batch.model))
        self._anchor.add_gradient(batch.model)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Add the work to the importance, and set the anchor here."""
        self._account(model)
        if self._every.due(len(new)):
            importance = fitted_to(model, self._anchor.importance)
            for name, work in self._work.items():
                importance[name] += work.clamp(min=0) / (self._moved[name] ** 2 + self._epsilon)
            self._anchor.set_anchor(model, importance)
            self._work, self._moved = {}, {}

    def _account(self, model: "Model") -> None:
        """Add the step that has just been made, if there was one."""
        parameters = dict(model.named_parameters())
        for name, gradient in self._gradients.items():
            move = parameters[name] - self._before[name]
            self._work[name] -= gradient * move
            self._moved[name] += move
        self._before, self._gradients = {}, {}
