"""Patching: finetune, then go back part of the way, as far as the past asks for it."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.seeds import Draws, draws
from onward.train.every import Every
from onward.train.method import Method, TrainingSet, number
from onward.train.weights import snapshot
from onward.types import Rows, Samples, Setting, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

_GRID = 10
# Fewer say little about a coefficient; of a small period, more than a fifth would be missed.
_LEAST, _MOST = 8, 0.2


class Patching(Method):
    """Finetune, then mix the weights with those before, by what was good for earlier periods.

    patched ← (1 - a) · patched + a · learned, where a is out of 0, 0.1, ..., 1: the one with the
    best mean score on samples of earlier periods, of those that are alike the largest. What is
    learned next starts from there. These samples come with a period for validation, or are set
    aside of its own and not learned; those of a period are first used in the next one, and no test
    is ever used. Statistics of batches are mixed as weights are. Classes that arrive with a period
    have no weights before it, and keep what was learned.

    Online nothing tells where a period ends: there, weights are mixed after so many samples as the
    recipe's memory holds, and each sample is set aside by chance, while there is room for it.

    What looking at them costs is not part of the budget, as in the paper.

    Why: Weights that began alike can be mixed, at no price when they are used; a part of the way
    back restores what finetuning has lost.

    Known problems: Weights that have moved far apart cannot be mixed. Where samples are set aside,
    fewer are learned.

    Parameters
    ----------
    share
        Which share of a period's samples is set aside where it comes with none for validation;
        at least eight, unless these are more than a fifth.

    References
    ----------
    Ilharco et al., Patching Open-Vocabulary Models by Interpolating Weights, NeurIPS 2022; Garg et
    al., TiC-CLIP, ICLR 2024. The grid is our choice: neither its own nor that of ties is said.
    """

    saved = ("_patched", "_calls", "_every", "coefficients")

    def __init__(self, *, share: float = 0.1) -> None:
        self._share = number("share", share, 0.0, 0.5)
        self._patched: dict[str, Tensor] = {}
        self._past: list[Samples] = []
        self._calls = 0
        self._every = Every(None)
        self.coefficients: list[float] = []

    def begin(self, setting: Setting) -> None:
        """Learn when to mix."""
        super().begin(setting)
        self._every = Every(None if setting.online else 1)
        self._every.begin(setting)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples but for those that are set aside."""
        aside = self._aside(new, budget)
        if not len(aside):
            return super().training_data(new, budget)
        rest = np.setdiff1d(np.arange(len(new)), aside)
        kept = new.of(new.rows[rest], new.labels[rest])
        return TrainingSet(kept, epoch=len(kept))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Mix, and keep what the next period is to be judged by."""
        begins, fresh = self._every.begins, self._to_judge_by(new, budget)
        if self._every.due(len(new)):
            # Those of the period that ends here are not among what it is judged by.
            past = self._past if begins else self._past[:-1]
            if past and self._patched:
                self._mix(model, new, past)
            self._patched = snapshot(model)
        if begins:
            self._past.append(fresh)
        else:
            self._past[-1] = Samples.join([self._past[-1], fresh])
        budget.hold(np.concatenate([each.rows for each in self._past]))
        self._calls += 1

    def state(self) -> dict[str, Any]:
        """Return the patched weights, and what they are judged by."""
        return {
            **super().state(),
            "past": {
                str(place): {"rows": each.rows, "labels": each.labels}
                for place, each in enumerate(self._past)
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take them back."""
        super().restore(state)
        self._past = [Samples(each["rows"], each["labels"]) for each in state["past"].values()]

    def _aside(self, new: View, budget: Budget) -> Rows:
        """Return which of the new samples are not learned."""
        rng = draws(Draws.HELD_OUT, self.setting.seed, self._calls)
        if self.setting.online:
            held = sum(len(each) for each in self._past)
            room = max(budget.limits.get("stored_samples", math.inf) - held, 0)
            chosen = np.flatnonzero(rng.random(len(new)) < self._share)
            return chosen[: int(min(room, len(chosen)))]
        if len(new.validation) or not self._share:
            return np.empty(0, np.int64)
        count = max(int(self._share * len(new)), min(_LEAST, int(_MOST * len(new))))
        return np.sort(rng.permutation(len(new))[:count])

    def _to_judge_by(self, new: View, budget: Budget) -> Samples:
        if len(new.validation):
            return Samples(new.validation.rows, new.validation.labels)
        aside = self._aside(new, budget)
        return Samples(new.rows[aside], new.labels[aside])

    def _mix(self, model: "Model", new: View, past: list[Samples]) -> None:
        """Give the model the best mixture of what it was and what it is."""
        learned = snapshot(model)
        before = {name: _begun(self._patched[name], values) for name, values in learned.items()}
        found: list[tuple[float, int]] = []
        for part in range(_GRID + 1):
            _set(model, before, learned, part / _GRID)
            found.append((self._score(model, new, past), part))
        best = max(found)[1] / _GRID
        _set(model, before, learned, best)
        self.coefficients.append(best)

    def _score(self, model: "Model", new: View, past: list[Samples]) -> float:
        """Return the mean score over the samples of earlier periods."""
        from onward.train.predicted import headline  # torch, which the catalogue does not need

        views = [new.of(each.rows, each.labels) for each in past if len(each)]
        scores = [headline(model, view, self.setting.task) for view in views]
        # Of images without a single box, nothing can be said.
        known = [score for score in scores if not math.isnan(score)]
        return float(np.mean(known)) if known else 0.0


def _begun(before: "Tensor", now: "Tensor") -> "Tensor":
    """Return old weights in the shape of new ones: rows of new classes are as they are."""
    if before.shape == now.shape:
        return before
    whole = now.clone()
    whole[: len(before)] = before
    return whole


def _set(
    model: "Model", before: "dict[str, Tensor]", learned: "dict[str, Tensor]", share: float
) -> None:
    for name, values in model.state_dict().items():
        # A count cannot be mixed, and at 1 rounding is to change nothing.
        if share == 1 or not values.is_floating_point():
            values.copy_(learned[name])
        else:
            values.copy_(before[name]).lerp_(learned[name], share)
