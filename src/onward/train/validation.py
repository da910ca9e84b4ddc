"""The outputs of a model, and its score on validation samples while a period is learned."""

import contextlib
from typing import Any

import torch

from onward import distributed
from onward.budget import Budget
from onward.errors import OnwardError
from onward.models.model import Model, set_weights
from onward.saved import Saved
from onward.train.loading import view_batches
from onward.train.recipe import Recipe
from onward.train.weights import WeightAverage, snapshot
from onward.types import Array, Task, View


def predicted(model: Model, view: View) -> Array:
    """Return a model's outputs for a view, which is read part by part, by each process a share."""
    outputs = [model.predict(inputs) for inputs in view_batches(view, model.device, shared=True)]
    return distributed.gather_contiguous(torch.cat(outputs), len(view)).cpu().numpy()


def headline(model: Model, view: View, task: Task) -> float:
    """Return a model's score on samples that could be learned from, as if they were a test."""
    outputs, labels = task.as_test(predicted(model, view), view.labels)
    decisions = task.decode(outputs, view.classes, len(labels))
    return task.score(decisions, labels)[task.headline]


class Validation(Saved):
    """The scores of one call of `learn` on its validation samples, one after each epoch.

    They say when to reduce the learning rate, and which epoch is the best one. Only the labels that
    are shown count as correct, also where an older label still holds.

    The score is the task's headline metric, and evaluations are charged to the budget. Where
    weights are averaged, the average is scored, since it is what predicts in the end. With
    `keeps_best`, the weights of the best epoch are kept, of the latest among equals. `state` is
    that of a call that is resumed.
    """

    saved = ("_highest", "_waited", "_slower", "_best", "_weights")

    def __init__(
        self,
        view: View,
        model: Model,
        task: Task,
        budget: Budget,
        recipe: Recipe,
        *,
        keeps_best: bool,
        average: WeightAverage | None,
        state: dict[str, Any],
    ) -> None:
        if recipe.patience is not None and not len(view):
            raise OnwardError(
                "the recipe lets the learning rate wait for a plateau on validation samples, and "
                "this period has none. Bring more samples, hold more of them back, or choose a "
                "recipe without patience"
            )
        self._view, self._model, self._task, self._budget = view, model, task, budget
        self._recipe, self._keeps_best, self._average = recipe, keeps_best, average
        self.asked = len(view) > 0 and (keeps_best or recipe.patience is not None)
        self._highest: float | None = None
        self._best: float | None = None
        self._waited = self._slower = 0
        self._weights: dict[str, torch.Tensor] = {}
        if state:
            self.restore(state)
        self.lr_factor = recipe.gamma**self._slower
        """What the learning rate is multiplied by."""

    @property
    def macs(self) -> int:
        """The multiply-accumulates of one evaluation."""
        return self._model.macs * len(self._view) if self.asked else 0

    def evaluate(self) -> dict[str, float]:
        """Score the model as it is now, and return the score by its name; nothing if not asked."""
        if not self.asked:
            return {}
        self._budget.spend(macs=self.macs)
        average = self._average
        with contextlib.nullcontext() if average is None else average.applied(self._model):
            score = headline(self._model, self._view, self._task)
            if self._keeps_best and (self._best is None or score >= self._best):
                self._best, self._weights = score, snapshot(self._model)
        if self._recipe.patience is not None:
            self._wait(score, self._recipe.patience)
        return {f"validation_{self._task.headline}": score}

    def restore_best(self) -> bool:
        """Give the model the weights of its best epoch, where they are kept; return whether."""
        if self._weights:
            set_weights(self._model, self._weights)
        return bool(self._weights)

    def _wait(self, score: float, patience: int) -> None:
        """Follow the rule of torch's `ReduceLROnPlateau` with an absolute threshold."""
        if self._highest is None or score > self._highest + self._recipe.threshold:
            self._highest, self._waited = score, 0
            return
        self._waited += 1
        if self._waited > patience:
            self._slower, self._waited = self._slower + 1, 0
            self.lr_factor = self._recipe.gamma**self._slower
